# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_session_tree_global_optspecs
    string join \n q/quiet color= ascii width= jobs= h/help V/version
end

function __fish_session_tree_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_session_tree_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_session_tree_using_subcommand
    set -l cmd (__fish_session_tree_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c session-tree -n "__fish_session_tree_needs_command" -l color -d 'When to use colour; auto is on a terminal' -r -f -a "auto\t''
always\t''
never\t''"
complete -c session-tree -n "__fish_session_tree_needs_command" -l width -d 'Cut rows to N columns; else to the terminal\'s or COLUMNS' -r
complete -c session-tree -n "__fish_session_tree_needs_command" -l jobs -d 'Work on N threads; else one a core, or four to migrate files' -r
complete -c session-tree -n "__fish_session_tree_needs_command" -s q -l quiet -d 'Drop warnings and hints'
complete -c session-tree -n "__fish_session_tree_needs_command" -l ascii -d 'Draw with ASCII characters only'
complete -c session-tree -n "__fish_session_tree_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c session-tree -n "__fish_session_tree_needs_command" -s V -l version -d 'Print version'
complete -c session-tree -n "__fish_session_tree_needs_command" -f -a "tree" -d 'Print the tree of a session'
complete -c session-tree -n "__fish_session_tree_needs_command" -f -a "context" -d 'Rebuild what the model would see at the leaf'
complete -c session-tree -n "__fish_session_tree_needs_command" -f -a "label" -d 'List, print, set or clear labels'
complete -c session-tree -n "__fish_session_tree_needs_command" -f -a "branch" -d 'Fork a session into a new file, or list where one can'
complete -c session-tree -n "__fish_session_tree_needs_command" -f -a "navigate" -d 'Move the leaf to another entry of the same file'
complete -c session-tree -n "__fish_session_tree_needs_command" -f -a "migrate" -d 'Bring old session files to version 3'
complete -c session-tree -n "__fish_session_tree_needs_command" -f -a "check" -d 'Say what is wrong with session files, what it costs, and how to get on'
complete -c session-tree -n "__fish_session_tree_needs_command" -f -a "completions" -d 'Print the completion script of a shell'
complete -c session-tree -n "__fish_session_tree_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c session-tree -n "__fish_session_tree_using_subcommand tree" -l filter -d 'Which entries to show' -r -f -a "default\t'The conversation: no bookkeeping, no silent assistant messages'
no-tools\t'As default, without tool results'
user-only\t'User messages'
labeled-only\t'Entries with a label'
all\t'Everything'"
complete -c session-tree -n "__fish_session_tree_using_subcommand tree" -l search -d 'Show only entries that contain all these words, in any case' -r
complete -c session-tree -n "__fish_session_tree_using_subcommand tree" -l depth -d 'Show only entries at most N steps below the root' -r
complete -c session-tree -n "__fish_session_tree_using_subcommand tree" -l since -d 'Show only entries from then on: 2026-01-31, 2026-01-31T10:00, 2d, 3h, 90m' -r
complete -c session-tree -n "__fish_session_tree_using_subcommand tree" -l until -d 'Show only entries up to then' -r
complete -c session-tree -n "__fish_session_tree_using_subcommand tree" -l entry -d 'Print this entry whole instead of the tree; may be given several times' -r
complete -c session-tree -n "__fish_session_tree_using_subcommand tree" -l leaf -d 'Work from this entry instead of the file\'s leaf' -r
complete -c session-tree -n "__fish_session_tree_using_subcommand tree" -l format -d 'How to print it' -r -f -a "text\t'Rows for people'
table\t'Columns: id, when, type, label, text'
json\t'The whole tree as nested nodes'
jsonl\t'One object a row: the form for scripts'
dot\t'A picture for Graphviz'
mermaid\t'A picture for Mermaid, as in Markdown'"
complete -c session-tree -n "__fish_session_tree_using_subcommand tree" -l color -d 'When to use colour; auto is on a terminal' -r -f -a "auto\t''
always\t''
never\t''"
complete -c session-tree -n "__fish_session_tree_using_subcommand tree" -l width -d 'Cut rows to N columns; else to the terminal\'s or COLUMNS' -r
complete -c session-tree -n "__fish_session_tree_using_subcommand tree" -l jobs -d 'Work on N threads; else one a core, or four to migrate files' -r
complete -c session-tree -n "__fish_session_tree_using_subcommand tree" -l path -d 'Show only the path from the root to the leaf'
complete -c session-tree -n "__fish_session_tree_using_subcommand tree" -l branches -d 'Show only branch points, ends of branches and entries with a label'
complete -c session-tree -n "__fish_session_tree_using_subcommand tree" -l tips -d 'Show one row a branch: its end and its first words, the newest first'
complete -c session-tree -n "__fish_session_tree_using_subcommand tree" -l root -d 'Work from before the first entry'
complete -c session-tree -n "__fish_session_tree_using_subcommand tree" -l full -d 'Add the whole entry to each row (with --format jsonl)'
complete -c session-tree -n "__fish_session_tree_using_subcommand tree" -l json -d 'Short for --format json'
complete -c session-tree -n "__fish_session_tree_using_subcommand tree" -s q -l quiet -d 'Drop warnings and hints'
complete -c session-tree -n "__fish_session_tree_using_subcommand tree" -l ascii -d 'Draw with ASCII characters only'
complete -c session-tree -n "__fish_session_tree_using_subcommand tree" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c session-tree -n "__fish_session_tree_using_subcommand context" -l leaf -d 'Work from this entry instead of the file\'s leaf' -r
complete -c session-tree -n "__fish_session_tree_using_subcommand context" -l format -d 'How to print it' -r -f -a "text\t'A transcript for people'
json\t'State and messages, as agents hold them'
llm\t'The messages, as a model gets them'"
complete -c session-tree -n "__fish_session_tree_using_subcommand context" -l color -d 'When to use colour; auto is on a terminal' -r -f -a "auto\t''
always\t''
never\t''"
complete -c session-tree -n "__fish_session_tree_using_subcommand context" -l width -d 'Cut rows to N columns; else to the terminal\'s or COLUMNS' -r
complete -c session-tree -n "__fish_session_tree_using_subcommand context" -l jobs -d 'Work on N threads; else one a core, or four to migrate files' -r
complete -c session-tree -n "__fish_session_tree_using_subcommand context" -l root -d 'Work from before the first entry'
complete -c session-tree -n "__fish_session_tree_using_subcommand context" -l json -d 'Short for --format json'
complete -c session-tree -n "__fish_session_tree_using_subcommand context" -s q -l quiet -d 'Drop warnings and hints'
complete -c session-tree -n "__fish_session_tree_using_subcommand context" -l ascii -d 'Draw with ASCII characters only'
complete -c session-tree -n "__fish_session_tree_using_subcommand context" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c session-tree -n "__fish_session_tree_using_subcommand label" -l from -d 'Set labels from lines ENTRY<TAB>NAME, all in one step; - for standard input' -r -F
complete -c session-tree -n "__fish_session_tree_using_subcommand label" -l leaf -d 'Append to this entry instead of the file\'s leaf; this moves the leaf there' -r
complete -c session-tree -n "__fish_session_tree_using_subcommand label" -l lock-timeout -d 'How long to wait for another writer\'s lock' -r
complete -c session-tree -n "__fish_session_tree_using_subcommand label" -l format -d 'How to print it' -r -f -a "text\t'Columns for people'
json\t'Objects for programs'"
complete -c session-tree -n "__fish_session_tree_using_subcommand label" -l color -d 'When to use colour; auto is on a terminal' -r -f -a "auto\t''
always\t''
never\t''"
complete -c session-tree -n "__fish_session_tree_using_subcommand label" -l width -d 'Cut rows to N columns; else to the terminal\'s or COLUMNS' -r
complete -c session-tree -n "__fish_session_tree_using_subcommand label" -l jobs -d 'Work on N threads; else one a core, or four to migrate files' -r
complete -c session-tree -n "__fish_session_tree_using_subcommand label" -l clear -d 'Take the label away'
complete -c session-tree -n "__fish_session_tree_using_subcommand label" -l force -d 'Write although another process has the file open'
complete -c session-tree -n "__fish_session_tree_using_subcommand label" -l json -d 'Short for --format json'
complete -c session-tree -n "__fish_session_tree_using_subcommand label" -s q -l quiet -d 'Drop warnings and hints'
complete -c session-tree -n "__fish_session_tree_using_subcommand label" -l ascii -d 'Draw with ASCII characters only'
complete -c session-tree -n "__fish_session_tree_using_subcommand label" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c session-tree -n "__fish_session_tree_using_subcommand branch" -l at -d 'Copy up to and including this entry, whatever it is [default: the leaf]' -r
complete -c session-tree -n "__fish_session_tree_using_subcommand branch" -l leaf -d 'Work from this entry instead of the file\'s leaf' -r
complete -c session-tree -n "__fish_session_tree_using_subcommand branch" -l session-dir -d 'Folder of the new file [default: that of SESSION]' -r -F
complete -c session-tree -n "__fish_session_tree_using_subcommand branch" -s o -l output -d 'The new file; - for standard output' -r -F
complete -c session-tree -n "__fish_session_tree_using_subcommand branch" -l hook -d 'Program to ask before and to tell afterwards; may be given several times' -r
complete -c session-tree -n "__fish_session_tree_using_subcommand branch" -l hook-timeout -d 'How long each hook may take; 0 is for ever' -r
complete -c session-tree -n "__fish_session_tree_using_subcommand branch" -l format -d 'How to print it' -r -f -a "text\t'Id and text'
table\t'Columns: id, when, text'
json\t'One array of objects'
jsonl\t'One object a line'"
complete -c session-tree -n "__fish_session_tree_using_subcommand branch" -l color -d 'When to use colour; auto is on a terminal' -r -f -a "auto\t''
always\t''
never\t''"
complete -c session-tree -n "__fish_session_tree_using_subcommand branch" -l width -d 'Cut rows to N columns; else to the terminal\'s or COLUMNS' -r
complete -c session-tree -n "__fish_session_tree_using_subcommand branch" -l jobs -d 'Work on N threads; else one a core, or four to migrate files' -r
complete -c session-tree -n "__fish_session_tree_using_subcommand branch" -l dry-run -d 'Only tell what would be done'
complete -c session-tree -n "__fish_session_tree_using_subcommand branch" -l json -d 'Short for --format json'
complete -c session-tree -n "__fish_session_tree_using_subcommand branch" -s q -l quiet -d 'Drop warnings and hints'
complete -c session-tree -n "__fish_session_tree_using_subcommand branch" -l ascii -d 'Draw with ASCII characters only'
complete -c session-tree -n "__fish_session_tree_using_subcommand branch" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c session-tree -n "__fish_session_tree_using_subcommand navigate" -l leaf -d 'Come from this entry instead of the file\'s leaf' -r
complete -c session-tree -n "__fish_session_tree_using_subcommand navigate" -l summary -d 'Attach this summary of what is left behind' -r
complete -c session-tree -n "__fish_session_tree_using_subcommand navigate" -l summary-file -d 'Attach the summary in this file; - for standard input' -r -F
complete -c session-tree -n "__fish_session_tree_using_subcommand navigate" -l summarizer -d 'Command that reads a prompt and prints a summary; else SESSION_TREE_SUMMARIZER' -r
complete -c session-tree -n "__fish_session_tree_using_subcommand navigate" -l summarizer-timeout -d 'How long the summarizer may take; 0 is for ever' -r
complete -c session-tree -n "__fish_session_tree_using_subcommand navigate" -l instructions -d 'What to tell the summarizer to do, instead of the usual' -r
complete -c session-tree -n "__fish_session_tree_using_subcommand navigate" -l token-budget -d 'How much of the conversation the summarizer gets, the newest first; 0 is all' -r
complete -c session-tree -n "__fish_session_tree_using_subcommand navigate" -l label -d 'Label the summary, else ENTRY' -r
complete -c session-tree -n "__fish_session_tree_using_subcommand navigate" -l hook -d 'Program to ask before and to tell afterwards; may be given several times' -r
complete -c session-tree -n "__fish_session_tree_using_subcommand navigate" -l hook-timeout -d 'How long each hook may take; 0 is for ever' -r
complete -c session-tree -n "__fish_session_tree_using_subcommand navigate" -l lock-timeout -d 'How long to wait for another writer\'s lock' -r
complete -c session-tree -n "__fish_session_tree_using_subcommand navigate" -l format -d 'How to print it' -r -f -a "text\t'Words for people'
json\t'One object for programs'"
complete -c session-tree -n "__fish_session_tree_using_subcommand navigate" -l color -d 'When to use colour; auto is on a terminal' -r -f -a "auto\t''
always\t''
never\t''"
complete -c session-tree -n "__fish_session_tree_using_subcommand navigate" -l width -d 'Cut rows to N columns; else to the terminal\'s or COLUMNS' -r
complete -c session-tree -n "__fish_session_tree_using_subcommand navigate" -l jobs -d 'Work on N threads; else one a core, or four to migrate files' -r
complete -c session-tree -n "__fish_session_tree_using_subcommand navigate" -l root -d 'Go to before the first entry'
complete -c session-tree -n "__fish_session_tree_using_subcommand navigate" -l summarize -d 'Let a hook or the summarizer write the summary'
complete -c session-tree -n "__fish_session_tree_using_subcommand navigate" -l save -d 'Make the move last: agents resume there'
complete -c session-tree -n "__fish_session_tree_using_subcommand navigate" -l dry-run -d 'Only tell what would be done'
complete -c session-tree -n "__fish_session_tree_using_subcommand navigate" -l force -d 'Write although another process has the file open'
complete -c session-tree -n "__fish_session_tree_using_subcommand navigate" -l json -d 'Short for --format json'
complete -c session-tree -n "__fish_session_tree_using_subcommand navigate" -s q -l quiet -d 'Drop warnings and hints'
complete -c session-tree -n "__fish_session_tree_using_subcommand navigate" -l ascii -d 'Draw with ASCII characters only'
complete -c session-tree -n "__fish_session_tree_using_subcommand navigate" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c session-tree -n "__fish_session_tree_using_subcommand migrate" -l files-from -d 'Take paths from this file, on lines or separated by NUL; - for standard input' -r -F
complete -c session-tree -n "__fish_session_tree_using_subcommand migrate" -l backup -d 'Keep what each file was beside it [default suffix: .bak]' -r
complete -c session-tree -n "__fish_session_tree_using_subcommand migrate" -s o -l output -d 'Write the one input\'s new form here instead; - for standard output' -r -F
complete -c session-tree -n "__fish_session_tree_using_subcommand migrate" -l lock-timeout -d 'How long to wait for another writer\'s lock' -r
complete -c session-tree -n "__fish_session_tree_using_subcommand migrate" -l format -d 'How to print it' -r -f -a "text\t'A table for people'
json\t'One object a file'"
complete -c session-tree -n "__fish_session_tree_using_subcommand migrate" -l color -d 'When to use colour; auto is on a terminal' -r -f -a "auto\t''
always\t''
never\t''"
complete -c session-tree -n "__fish_session_tree_using_subcommand migrate" -l width -d 'Cut rows to N columns; else to the terminal\'s or COLUMNS' -r
complete -c session-tree -n "__fish_session_tree_using_subcommand migrate" -l jobs -d 'Work on N threads; else one a core, or four to migrate files' -r
complete -c session-tree -n "__fish_session_tree_using_subcommand migrate" -l check -d 'Only report; exit 1 if any file is of an old version'
complete -c session-tree -n "__fish_session_tree_using_subcommand migrate" -l dry-run -d 'Only report'
complete -c session-tree -n "__fish_session_tree_using_subcommand migrate" -l force -d 'Write although another process has the file open'
complete -c session-tree -n "__fish_session_tree_using_subcommand migrate" -l json -d 'Short for --format json'
complete -c session-tree -n "__fish_session_tree_using_subcommand migrate" -s q -l quiet -d 'Drop warnings and hints'
complete -c session-tree -n "__fish_session_tree_using_subcommand migrate" -l ascii -d 'Draw with ASCII characters only'
complete -c session-tree -n "__fish_session_tree_using_subcommand migrate" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c session-tree -n "__fish_session_tree_using_subcommand check" -l files-from -d 'Take paths from this file, on lines or separated by NUL; - for standard input' -r -F
complete -c session-tree -n "__fish_session_tree_using_subcommand check" -l deny -d 'Let this warning fail the check, by code or name; `warnings` for all of them' -r
complete -c session-tree -n "__fish_session_tree_using_subcommand check" -l allow -d 'Do not report this code' -r
complete -c session-tree -n "__fish_session_tree_using_subcommand check" -l baseline -d 'Do not report what this file lists' -r -F
complete -c session-tree -n "__fish_session_tree_using_subcommand check" -l format -d 'How to print it' -r -f -a "text\t'For people'
json\t'One object a finding'
github\t'Annotations of GitHub Actions'
sarif\t'One SARIF 2.1.0 document, for code scanning'"
complete -c session-tree -n "__fish_session_tree_using_subcommand check" -l color -d 'When to use colour; auto is on a terminal' -r -f -a "auto\t''
always\t''
never\t''"
complete -c session-tree -n "__fish_session_tree_using_subcommand check" -l width -d 'Cut rows to N columns; else to the terminal\'s or COLUMNS' -r
complete -c session-tree -n "__fish_session_tree_using_subcommand check" -l jobs -d 'Work on N threads; else one a core, or four to migrate files' -r
complete -c session-tree -n "__fish_session_tree_using_subcommand check" -l update-baseline -d 'Write all that is found to the baseline file, and report only what cannot be read'
complete -c session-tree -n "__fish_session_tree_using_subcommand check" -l why-leaf -d 'Say which entry agents resume at and why, and list the tips of all branches'
complete -c session-tree -n "__fish_session_tree_using_subcommand check" -l json -d 'Short for --format json'
complete -c session-tree -n "__fish_session_tree_using_subcommand check" -s q -l quiet -d 'Drop warnings and hints'
complete -c session-tree -n "__fish_session_tree_using_subcommand check" -l ascii -d 'Draw with ASCII characters only'
complete -c session-tree -n "__fish_session_tree_using_subcommand check" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c session-tree -n "__fish_session_tree_using_subcommand completions" -l color -d 'When to use colour; auto is on a terminal' -r -f -a "auto\t''
always\t''
never\t''"
complete -c session-tree -n "__fish_session_tree_using_subcommand completions" -l width -d 'Cut rows to N columns; else to the terminal\'s or COLUMNS' -r
complete -c session-tree -n "__fish_session_tree_using_subcommand completions" -l jobs -d 'Work on N threads; else one a core, or four to migrate files' -r
complete -c session-tree -n "__fish_session_tree_using_subcommand completions" -s q -l quiet -d 'Drop warnings and hints'
complete -c session-tree -n "__fish_session_tree_using_subcommand completions" -l ascii -d 'Draw with ASCII characters only'
complete -c session-tree -n "__fish_session_tree_using_subcommand completions" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c session-tree -n "__fish_session_tree_using_subcommand help; and not __fish_seen_subcommand_from tree context label branch navigate migrate check completions help" -f -a "tree" -d 'Print the tree of a session'
complete -c session-tree -n "__fish_session_tree_using_subcommand help; and not __fish_seen_subcommand_from tree context label branch navigate migrate check completions help" -f -a "context" -d 'Rebuild what the model would see at the leaf'
complete -c session-tree -n "__fish_session_tree_using_subcommand help; and not __fish_seen_subcommand_from tree context label branch navigate migrate check completions help" -f -a "label" -d 'List, print, set or clear labels'
complete -c session-tree -n "__fish_session_tree_using_subcommand help; and not __fish_seen_subcommand_from tree context label branch navigate migrate check completions help" -f -a "branch" -d 'Fork a session into a new file, or list where one can'
complete -c session-tree -n "__fish_session_tree_using_subcommand help; and not __fish_seen_subcommand_from tree context label branch navigate migrate check completions help" -f -a "navigate" -d 'Move the leaf to another entry of the same file'
complete -c session-tree -n "__fish_session_tree_using_subcommand help; and not __fish_seen_subcommand_from tree context label branch navigate migrate check completions help" -f -a "migrate" -d 'Bring old session files to version 3'
complete -c session-tree -n "__fish_session_tree_using_subcommand help; and not __fish_seen_subcommand_from tree context label branch navigate migrate check completions help" -f -a "check" -d 'Say what is wrong with session files, what it costs, and how to get on'
complete -c session-tree -n "__fish_session_tree_using_subcommand help; and not __fish_seen_subcommand_from tree context label branch navigate migrate check completions help" -f -a "completions" -d 'Print the completion script of a shell'
complete -c session-tree -n "__fish_session_tree_using_subcommand help; and not __fish_seen_subcommand_from tree context label branch navigate migrate check completions help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
