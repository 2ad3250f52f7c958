# Completion of session-tree in bash. Made to be put where bash-completion looks, or to be sourced.
_session_tree() {
    local line form=''
    COMPREPLY=()
    while IFS= read -r line; do
        if [[ -z $form ]]; then
            form=$line
        else
            COMPREPLY+=("$line")
        fi
    done < <(session-tree completions bash -- "${COMP_LINE:0:COMP_POINT}" "$COMP_WORDBREAKS" 2>/dev/null </dev/null)
    # Bash quotes names of files itself, shows only their last part, and adds a slash to folders.
    if [[ $form == paths ]] && compopt -o filenames 2>/dev/null; then
        COMPREPLY=("${COMPREPLY[@]%/}")
    fi
}
complete -o nosort -F _session_tree session-tree 2>/dev/null || complete -F _session_tree session-tree
