
use builtin;
use str;

set edit:completion:arg-completer[session-tree] = {|@words|
    fn spaces {|n|
        builtin:repeat $n ' ' | str:join ''
    }
    fn cand {|text desc|
        edit:complex-candidate $text &display=$text' '(spaces (- 14 (wcswidth $text)))$desc
    }
    var command = 'session-tree'
    for word $words[1..-1] {
        if (str:has-prefix $word '-') {
            break
        }
        set command = $command';'$word
    }
    var completions = [
        &'session-tree'= {
            cand --color 'When to use colour; auto is on a terminal'
            cand --width 'Cut rows to N columns; else to the terminal''s or COLUMNS'
            cand --jobs 'Work on N threads; else one a core, or four to migrate files'
            cand -q 'Drop warnings and hints'
            cand --quiet 'Drop warnings and hints'
            cand --ascii 'Draw with ASCII characters only'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
            cand tree 'Print the tree of a session'
            cand context 'Rebuild what the model would see at the leaf'
            cand label 'List, print, set or clear labels'
            cand branch 'Fork a session into a new file, or list where one can'
            cand navigate 'Move the leaf to another entry of the same file'
            cand migrate 'Bring old session files to version 3'
            cand check 'Say what is wrong with session files, what it costs, and how to get on'
            cand completions 'Print the completion script of a shell'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'session-tree;tree'= {
            cand --filter 'Which entries to show'
            cand --search 'Show only entries that contain all these words, in any case'
            cand --depth 'Show only entries at most N steps below the root'
            cand --since 'Show only entries from then on: 2026-01-31, 2026-01-31T10:00, 2d, 3h, 90m'
            cand --until 'Show only entries up to then'
            cand --entry 'Print this entry whole instead of the tree; may be given several times'
            cand --leaf 'Work from this entry instead of the file''s leaf'
            cand --format 'How to print it'
            cand --color 'When to use colour; auto is on a terminal'
            cand --width 'Cut rows to N columns; else to the terminal''s or COLUMNS'
            cand --jobs 'Work on N threads; else one a core, or four to migrate files'
            cand --path 'Show only the path from the root to the leaf'
            cand --branches 'Show only branch points, ends of branches and entries with a label'
            cand --tips 'Show one row a branch: its end and its first words, the newest first'
            cand --root 'Work from before the first entry'
            cand --full 'Add the whole entry to each row (with --format jsonl)'
            cand --json 'Short for --format json'
            cand -q 'Drop warnings and hints'
            cand --quiet 'Drop warnings and hints'
            cand --ascii 'Draw with ASCII characters only'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'session-tree;context'= {
            cand --leaf 'Work from this entry instead of the file''s leaf'
            cand --format 'How to print it'
            cand --color 'When to use colour; auto is on a terminal'
            cand --width 'Cut rows to N columns; else to the terminal''s or COLUMNS'
            cand --jobs 'Work on N threads; else one a core, or four to migrate files'
            cand --root 'Work from before the first entry'
            cand --json 'Short for --format json'
            cand -q 'Drop warnings and hints'
            cand --quiet 'Drop warnings and hints'
            cand --ascii 'Draw with ASCII characters only'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'session-tree;label'= {
            cand --from 'Set labels from lines ENTRY<TAB>NAME, all in one step; - for standard input'
            cand --leaf 'Append to this entry instead of the file''s leaf; this moves the leaf there'
            cand --lock-timeout 'How long to wait for another writer''s lock'
            cand --format 'How to print it'
            cand --color 'When to use colour; auto is on a terminal'
            cand --width 'Cut rows to N columns; else to the terminal''s or COLUMNS'
            cand --jobs 'Work on N threads; else one a core, or four to migrate files'
            cand --clear 'Take the label away'
            cand --force 'Write although another process has the file open'
            cand --json 'Short for --format json'
            cand -q 'Drop warnings and hints'
            cand --quiet 'Drop warnings and hints'
            cand --ascii 'Draw with ASCII characters only'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'session-tree;branch'= {
            cand --at 'Copy up to and including this entry, whatever it is [default: the leaf]'
            cand --leaf 'Work from this entry instead of the file''s leaf'
            cand --session-dir 'Folder of the new file [default: that of SESSION]'
            cand -o 'The new file; - for standard output'
            cand --output 'The new file; - for standard output'
            cand --hook 'Program to ask before and to tell afterwards; may be given several times'
            cand --hook-timeout 'How long each hook may take; 0 is for ever'
            cand --format 'How to print it'
            cand --color 'When to use colour; auto is on a terminal'
            cand --width 'Cut rows to N columns; else to the terminal''s or COLUMNS'
            cand --jobs 'Work on N threads; else one a core, or four to migrate files'
            cand --dry-run 'Only tell what would be done'
            cand --json 'Short for --format json'
            cand -q 'Drop warnings and hints'
            cand --quiet 'Drop warnings and hints'
            cand --ascii 'Draw with ASCII characters only'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'session-tree;navigate'= {
            cand --leaf 'Come from this entry instead of the file''s leaf'
            cand --summary 'Attach this summary of what is left behind'
            cand --summary-file 'Attach the summary in this file; - for standard input'
            cand --summarizer 'Command that reads a prompt and prints a summary; else SESSION_TREE_SUMMARIZER'
            cand --summarizer-timeout 'How long the summarizer may take; 0 is for ever'
            cand --instructions 'What to tell the summarizer to do, instead of the usual'
            cand --token-budget 'How much of the conversation the summarizer gets, the newest first; 0 is all'
            cand --label 'Label the summary, else ENTRY'
            cand --hook 'Program to ask before and to tell afterwards; may be given several times'
            cand --hook-timeout 'How long each hook may take; 0 is for ever'
            cand --lock-timeout 'How long to wait for another writer''s lock'
            cand --format 'How to print it'
            cand --color 'When to use colour; auto is on a terminal'
            cand --width 'Cut rows to N columns; else to the terminal''s or COLUMNS'
            cand --jobs 'Work on N threads; else one a core, or four to migrate files'
            cand --root 'Go to before the first entry'
            cand --summarize 'Let a hook or the summarizer write the summary'
            cand --save 'Make the move last: agents resume there'
            cand --dry-run 'Only tell what would be done'
            cand --force 'Write although another process has the file open'
            cand --json 'Short for --format json'
            cand -q 'Drop warnings and hints'
            cand --quiet 'Drop warnings and hints'
            cand --ascii 'Draw with ASCII characters only'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'session-tree;migrate'= {
            cand --files-from 'Take paths from this file, on lines or separated by NUL; - for standard input'
            cand --backup 'Keep what each file was beside it [default suffix: .bak]'
            cand -o 'Write the one input''s new form here instead; - for standard output'
            cand --output 'Write the one input''s new form here instead; - for standard output'
            cand --lock-timeout 'How long to wait for another writer''s lock'
            cand --format 'How to print it'
            cand --color 'When to use colour; auto is on a terminal'
            cand --width 'Cut rows to N columns; else to the terminal''s or COLUMNS'
            cand --jobs 'Work on N threads; else one a core, or four to migrate files'
            cand --check 'Only report; exit 1 if any file is of an old version'
            cand --dry-run 'Only report'
            cand --force 'Write although another process has the file open'
            cand --json 'Short for --format json'
            cand -q 'Drop warnings and hints'
            cand --quiet 'Drop warnings and hints'
            cand --ascii 'Draw with ASCII characters only'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'session-tree;check'= {
            cand --files-from 'Take paths from this file, on lines or separated by NUL; - for standard input'
            cand --deny 'Let this warning fail the check, by code or name; `warnings` for all of them'
            cand --allow 'Do not report this code'
            cand --baseline 'Do not report what this file lists'
            cand --format 'How to print it'
            cand --color 'When to use colour; auto is on a terminal'
            cand --width 'Cut rows to N columns; else to the terminal''s or COLUMNS'
            cand --jobs 'Work on N threads; else one a core, or four to migrate files'
            cand --update-baseline 'Write all that is found to the baseline file, and report only what cannot be read'
            cand --why-leaf 'Say which entry agents resume at and why, and list the tips of all branches'
            cand --json 'Short for --format json'
            cand -q 'Drop warnings and hints'
            cand --quiet 'Drop warnings and hints'
            cand --ascii 'Draw with ASCII characters only'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'session-tree;completions'= {
            cand --color 'When to use colour; auto is on a terminal'
            cand --width 'Cut rows to N columns; else to the terminal''s or COLUMNS'
            cand --jobs 'Work on N threads; else one a core, or four to migrate files'
            cand -q 'Drop warnings and hints'
            cand --quiet 'Drop warnings and hints'
            cand --ascii 'Draw with ASCII characters only'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'session-tree;help'= {
            cand tree 'Print the tree of a session'
            cand context 'Rebuild what the model would see at the leaf'
            cand label 'List, print, set or clear labels'
            cand branch 'Fork a session into a new file, or list where one can'
            cand navigate 'Move the leaf to another entry of the same file'
            cand migrate 'Bring old session files to version 3'
            cand check 'Say what is wrong with session files, what it costs, and how to get on'
            cand completions 'Print the completion script of a shell'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'session-tree;help;tree'= {
        }
        &'session-tree;help;context'= {
        }
        &'session-tree;help;label'= {
        }
        &'session-tree;help;branch'= {
        }
        &'session-tree;help;navigate'= {
        }
        &'session-tree;help;migrate'= {
        }
        &'session-tree;help;check'= {
        }
        &'session-tree;help;completions'= {
        }
        &'session-tree;help;help'= {
        }
    ]
    $completions[$command]
}
