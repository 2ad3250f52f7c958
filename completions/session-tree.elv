
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
            cand --color 'When to use colour [default: on a terminal]'
            cand --width 'Cut lines to N columns [default: the terminal, else COLUMNS, else uncut]'
            cand --jobs 'Read large files on N threads [default: one a core]'
            cand -q 'Drop warnings and hints'
            cand --quiet 'Drop warnings and hints'
            cand --ascii 'Draw with ASCII characters only'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
            cand tree 'Print the tree of a session'
            cand context 'Rebuild what the model would see at the leaf'
            cand label 'List the labels of a session, or print one'
            cand branch 'List the user messages that one can branch from'
            cand completions 'Print the completion script of a shell'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'session-tree;tree'= {
            cand --filter 'Which entries to show'
            cand --search 'Show only entries that contain all these words, in any case'
            cand --entry 'Print this entry whole instead of the tree; may be given several times'
            cand --leaf 'Work from this entry instead of the file''s leaf'
            cand --format 'How to print it'
            cand --color 'When to use colour [default: on a terminal]'
            cand --width 'Cut lines to N columns [default: the terminal, else COLUMNS, else uncut]'
            cand --jobs 'Read large files on N threads [default: one a core]'
            cand --path 'Show only the path from the root to the leaf'
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
            cand --color 'When to use colour [default: on a terminal]'
            cand --width 'Cut lines to N columns [default: the terminal, else COLUMNS, else uncut]'
            cand --jobs 'Read large files on N threads [default: one a core]'
            cand --root 'Work from before the first entry'
            cand --json 'Short for --format json'
            cand -q 'Drop warnings and hints'
            cand --quiet 'Drop warnings and hints'
            cand --ascii 'Draw with ASCII characters only'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'session-tree;label'= {
            cand --format 'How to print it'
            cand --color 'When to use colour [default: on a terminal]'
            cand --width 'Cut lines to N columns [default: the terminal, else COLUMNS, else uncut]'
            cand --jobs 'Read large files on N threads [default: one a core]'
            cand --json 'Short for --format json'
            cand -q 'Drop warnings and hints'
            cand --quiet 'Drop warnings and hints'
            cand --ascii 'Draw with ASCII characters only'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'session-tree;branch'= {
            cand --format 'How to print it'
            cand --color 'When to use colour [default: on a terminal]'
            cand --width 'Cut lines to N columns [default: the terminal, else COLUMNS, else uncut]'
            cand --jobs 'Read large files on N threads [default: one a core]'
            cand --json 'Short for --format json'
            cand -q 'Drop warnings and hints'
            cand --quiet 'Drop warnings and hints'
            cand --ascii 'Draw with ASCII characters only'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'session-tree;completions'= {
            cand --color 'When to use colour [default: on a terminal]'
            cand --width 'Cut lines to N columns [default: the terminal, else COLUMNS, else uncut]'
            cand --jobs 'Read large files on N threads [default: one a core]'
            cand -q 'Drop warnings and hints'
            cand --quiet 'Drop warnings and hints'
            cand --ascii 'Draw with ASCII characters only'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'session-tree;help'= {
            cand tree 'Print the tree of a session'
            cand context 'Rebuild what the model would see at the leaf'
            cand label 'List the labels of a session, or print one'
            cand branch 'List the user messages that one can branch from'
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
        &'session-tree;help;completions'= {
        }
        &'session-tree;help;help'= {
        }
    ]
    $completions[$command]
}
