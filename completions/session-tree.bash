# Completion of session-tree in bash. Made to be put where bash-completion looks, or to be sourced.
_session_tree() {
    local line name form='' variables=()
    # What variables hold is known to this shell only.
    for line in "${COMP_WORDS[@]}"; do
        if [[ $line =~ ^\"?\$\{?([A-Za-z_][A-Za-z_0-9]*)\}?\"?$ ]]; then
            name=${BASH_REMATCH[1]}
            variables+=("$name=${!name-}")
        fi
    done
    COMPREPLY=()
    while IFS= read -r line; do
        if [[ -z $form ]]; then
            form=$line
        else
            COMPREPLY+=("$line")
        fi
    done < <(session-tree completions bash -- "${COMP_LINE:0:COMP_POINT}" "$COMP_WORDBREAKS" \
        ${variables[@]+"${variables[@]}"} 2>/dev/null </dev/null)
    # Bash quotes names of files itself, and shows only their last part.
    if [[ $form == paths ]]; then
        compopt -o filenames 2>/dev/null
    fi
}
complete -o nosort -F _session_tree session-tree 2>/dev/null || complete -F _session_tree session-tree
