# Completion of session-tree in fish.
function __session_tree_choices
    set -l words
    for word in (commandline -opc)
        # What variables hold is known to this shell only.
        if string match --quiet --regex '^\$[A-Za-z_]\w*$' -- $word
            set -l name (string sub --start 2 -- $word)
            set --append words "$$name"
        else
            set --append words $word
        end
    end
    set -l word (commandline -ct)
    # In quotes, since an empty word is one too.
    session-tree completions fish -- $words "$word" 2>/dev/null </dev/null
end
complete --command session-tree --no-files --keep-order --arguments '(__session_tree_choices)'
