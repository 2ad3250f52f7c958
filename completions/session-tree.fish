# Completion of session-tree in fish.
function __session_tree_choices
    set -l words (commandline -opc)
    set -l word (commandline -ct)
    # In quotes, since an empty word is one too.
    session-tree completions fish -- $words "$word" 2>/dev/null </dev/null
end
complete --command session-tree --no-files --keep-order --arguments '(__session_tree_choices)'
