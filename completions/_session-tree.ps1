
using namespace System.Management.Automation
using namespace System.Management.Automation.Language

Register-ArgumentCompleter -Native -CommandName 'session-tree' -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    $commandElements = $commandAst.CommandElements
    $command = @(
        'session-tree'
        for ($i = 1; $i -lt $commandElements.Count; $i++) {
            $element = $commandElements[$i]
            if ($element -isnot [StringConstantExpressionAst] -or
                $element.StringConstantType -ne [StringConstantType]::BareWord -or
                $element.Value.StartsWith('-') -or
                $element.Value -eq $wordToComplete) {
                break
        }
        $element.Value
    }) -join ';'

    $completions = @(switch ($command) {
        'session-tree' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour; auto is on a terminal')
            [CompletionResult]::new('--width', '--width', [CompletionResultType]::ParameterName, 'Cut rows to N columns; else to the terminal''s or COLUMNS')
            [CompletionResult]::new('--jobs', '--jobs', [CompletionResultType]::ParameterName, 'Work on N threads; else one a core, or four to migrate files')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Drop warnings and hints')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Drop warnings and hints')
            [CompletionResult]::new('--ascii', '--ascii', [CompletionResultType]::ParameterName, 'Draw with ASCII characters only')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('tree', 'tree', [CompletionResultType]::ParameterValue, 'Print the tree of a session')
            [CompletionResult]::new('context', 'context', [CompletionResultType]::ParameterValue, 'Rebuild what the model would see at the leaf')
            [CompletionResult]::new('label', 'label', [CompletionResultType]::ParameterValue, 'List, print, set or clear labels')
            [CompletionResult]::new('branch', 'branch', [CompletionResultType]::ParameterValue, 'Fork a session into a new file, or list where one can')
            [CompletionResult]::new('navigate', 'navigate', [CompletionResultType]::ParameterValue, 'Move the leaf to another entry of the same file')
            [CompletionResult]::new('migrate', 'migrate', [CompletionResultType]::ParameterValue, 'Bring old session files to version 3')
            [CompletionResult]::new('check', 'check', [CompletionResultType]::ParameterValue, 'Say what is wrong with session files, what it costs, and how to get on')
            [CompletionResult]::new('completions', 'completions', [CompletionResultType]::ParameterValue, 'Print the completion script of a shell')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'session-tree;tree' {
            [CompletionResult]::new('--filter', '--filter', [CompletionResultType]::ParameterName, 'Which entries to show')
            [CompletionResult]::new('--search', '--search', [CompletionResultType]::ParameterName, 'Show only entries that contain all these words, in any case')
            [CompletionResult]::new('--depth', '--depth', [CompletionResultType]::ParameterName, 'Show only entries at most N steps below the root')
            [CompletionResult]::new('--since', '--since', [CompletionResultType]::ParameterName, 'Show only entries from then on: 2026-01-31, 2026-01-31T10:00, 2d, 3h, 90m')
            [CompletionResult]::new('--until', '--until', [CompletionResultType]::ParameterName, 'Show only entries up to then')
            [CompletionResult]::new('--entry', '--entry', [CompletionResultType]::ParameterName, 'Print this entry whole instead of the tree; may be given several times')
            [CompletionResult]::new('--leaf', '--leaf', [CompletionResultType]::ParameterName, 'Work from this entry instead of the file''s leaf')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How to print it')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour; auto is on a terminal')
            [CompletionResult]::new('--width', '--width', [CompletionResultType]::ParameterName, 'Cut rows to N columns; else to the terminal''s or COLUMNS')
            [CompletionResult]::new('--jobs', '--jobs', [CompletionResultType]::ParameterName, 'Work on N threads; else one a core, or four to migrate files')
            [CompletionResult]::new('--path', '--path', [CompletionResultType]::ParameterName, 'Show only the path from the root to the leaf')
            [CompletionResult]::new('--branches', '--branches', [CompletionResultType]::ParameterName, 'Show only branch points, ends of branches and entries with a label')
            [CompletionResult]::new('--tips', '--tips', [CompletionResultType]::ParameterName, 'Show one row a branch: its end and its first words, the newest first')
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'Work from before the first entry')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Add the whole entry to each row (with --format jsonl)')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Short for --format json')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Drop warnings and hints')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Drop warnings and hints')
            [CompletionResult]::new('--ascii', '--ascii', [CompletionResultType]::ParameterName, 'Draw with ASCII characters only')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'session-tree;context' {
            [CompletionResult]::new('--leaf', '--leaf', [CompletionResultType]::ParameterName, 'Work from this entry instead of the file''s leaf')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How to print it')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour; auto is on a terminal')
            [CompletionResult]::new('--width', '--width', [CompletionResultType]::ParameterName, 'Cut rows to N columns; else to the terminal''s or COLUMNS')
            [CompletionResult]::new('--jobs', '--jobs', [CompletionResultType]::ParameterName, 'Work on N threads; else one a core, or four to migrate files')
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'Work from before the first entry')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Short for --format json')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Drop warnings and hints')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Drop warnings and hints')
            [CompletionResult]::new('--ascii', '--ascii', [CompletionResultType]::ParameterName, 'Draw with ASCII characters only')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'session-tree;label' {
            [CompletionResult]::new('--from', '--from', [CompletionResultType]::ParameterName, 'Set labels from lines ENTRY<TAB>NAME, all in one step; - for standard input')
            [CompletionResult]::new('--leaf', '--leaf', [CompletionResultType]::ParameterName, 'Append to this entry instead of the file''s leaf; this moves the leaf there')
            [CompletionResult]::new('--lock-timeout', '--lock-timeout', [CompletionResultType]::ParameterName, 'How long to wait for another writer''s lock')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How to print it')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour; auto is on a terminal')
            [CompletionResult]::new('--width', '--width', [CompletionResultType]::ParameterName, 'Cut rows to N columns; else to the terminal''s or COLUMNS')
            [CompletionResult]::new('--jobs', '--jobs', [CompletionResultType]::ParameterName, 'Work on N threads; else one a core, or four to migrate files')
            [CompletionResult]::new('--clear', '--clear', [CompletionResultType]::ParameterName, 'Take the label away')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Write although another process has the file open')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Short for --format json')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Drop warnings and hints')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Drop warnings and hints')
            [CompletionResult]::new('--ascii', '--ascii', [CompletionResultType]::ParameterName, 'Draw with ASCII characters only')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'session-tree;branch' {
            [CompletionResult]::new('--at', '--at', [CompletionResultType]::ParameterName, 'Copy up to and including this entry, whatever it is [default: the leaf]')
            [CompletionResult]::new('--leaf', '--leaf', [CompletionResultType]::ParameterName, 'Work from this entry instead of the file''s leaf')
            [CompletionResult]::new('--session-dir', '--session-dir', [CompletionResultType]::ParameterName, 'Folder of the new file [default: that of SESSION]')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'The new file; - for standard output')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'The new file; - for standard output')
            [CompletionResult]::new('--hook', '--hook', [CompletionResultType]::ParameterName, 'Program to ask before and to tell afterwards; may be given several times')
            [CompletionResult]::new('--hook-timeout', '--hook-timeout', [CompletionResultType]::ParameterName, 'How long each hook may take; 0 is for ever')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How to print it')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour; auto is on a terminal')
            [CompletionResult]::new('--width', '--width', [CompletionResultType]::ParameterName, 'Cut rows to N columns; else to the terminal''s or COLUMNS')
            [CompletionResult]::new('--jobs', '--jobs', [CompletionResultType]::ParameterName, 'Work on N threads; else one a core, or four to migrate files')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Only tell what would be done')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Short for --format json')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Drop warnings and hints')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Drop warnings and hints')
            [CompletionResult]::new('--ascii', '--ascii', [CompletionResultType]::ParameterName, 'Draw with ASCII characters only')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'session-tree;navigate' {
            [CompletionResult]::new('--leaf', '--leaf', [CompletionResultType]::ParameterName, 'Come from this entry instead of the file''s leaf')
            [CompletionResult]::new('--summary', '--summary', [CompletionResultType]::ParameterName, 'Attach this summary of what is left behind')
            [CompletionResult]::new('--summary-file', '--summary-file', [CompletionResultType]::ParameterName, 'Attach the summary in this file; - for standard input')
            [CompletionResult]::new('--summarizer', '--summarizer', [CompletionResultType]::ParameterName, 'Command that reads a prompt and prints a summary; else SESSION_TREE_SUMMARIZER')
            [CompletionResult]::new('--summarizer-timeout', '--summarizer-timeout', [CompletionResultType]::ParameterName, 'How long the summarizer may take; 0 is for ever')
            [CompletionResult]::new('--instructions', '--instructions', [CompletionResultType]::ParameterName, 'What to tell the summarizer to do, instead of the usual')
            [CompletionResult]::new('--token-budget', '--token-budget', [CompletionResultType]::ParameterName, 'How much of the conversation the summarizer gets, the newest first; 0 is all')
            [CompletionResult]::new('--label', '--label', [CompletionResultType]::ParameterName, 'Label the summary, else ENTRY')
            [CompletionResult]::new('--hook', '--hook', [CompletionResultType]::ParameterName, 'Program to ask before and to tell afterwards; may be given several times')
            [CompletionResult]::new('--hook-timeout', '--hook-timeout', [CompletionResultType]::ParameterName, 'How long each hook may take; 0 is for ever')
            [CompletionResult]::new('--lock-timeout', '--lock-timeout', [CompletionResultType]::ParameterName, 'How long to wait for another writer''s lock')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How to print it')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour; auto is on a terminal')
            [CompletionResult]::new('--width', '--width', [CompletionResultType]::ParameterName, 'Cut rows to N columns; else to the terminal''s or COLUMNS')
            [CompletionResult]::new('--jobs', '--jobs', [CompletionResultType]::ParameterName, 'Work on N threads; else one a core, or four to migrate files')
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'Go to before the first entry')
            [CompletionResult]::new('--summarize', '--summarize', [CompletionResultType]::ParameterName, 'Let a hook or the summarizer write the summary')
            [CompletionResult]::new('--save', '--save', [CompletionResultType]::ParameterName, 'Make the move last: agents resume there')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Only tell what would be done')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Write although another process has the file open')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Short for --format json')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Drop warnings and hints')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Drop warnings and hints')
            [CompletionResult]::new('--ascii', '--ascii', [CompletionResultType]::ParameterName, 'Draw with ASCII characters only')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'session-tree;migrate' {
            [CompletionResult]::new('--files-from', '--files-from', [CompletionResultType]::ParameterName, 'Take paths from this file, on lines or separated by NUL; - for standard input')
            [CompletionResult]::new('--backup', '--backup', [CompletionResultType]::ParameterName, 'Keep what each file was beside it [default suffix: .bak]')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Write the one input''s new form here instead; - for standard output')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Write the one input''s new form here instead; - for standard output')
            [CompletionResult]::new('--lock-timeout', '--lock-timeout', [CompletionResultType]::ParameterName, 'How long to wait for another writer''s lock')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How to print it')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour; auto is on a terminal')
            [CompletionResult]::new('--width', '--width', [CompletionResultType]::ParameterName, 'Cut rows to N columns; else to the terminal''s or COLUMNS')
            [CompletionResult]::new('--jobs', '--jobs', [CompletionResultType]::ParameterName, 'Work on N threads; else one a core, or four to migrate files')
            [CompletionResult]::new('--check', '--check', [CompletionResultType]::ParameterName, 'Only report; exit 1 if any file is of an old version')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Only report')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Write although another process has the file open')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Short for --format json')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Drop warnings and hints')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Drop warnings and hints')
            [CompletionResult]::new('--ascii', '--ascii', [CompletionResultType]::ParameterName, 'Draw with ASCII characters only')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'session-tree;check' {
            [CompletionResult]::new('--files-from', '--files-from', [CompletionResultType]::ParameterName, 'Take paths from this file, on lines or separated by NUL; - for standard input')
            [CompletionResult]::new('--deny', '--deny', [CompletionResultType]::ParameterName, 'Let this warning fail the check, by code or name; `warnings` for all of them')
            [CompletionResult]::new('--allow', '--allow', [CompletionResultType]::ParameterName, 'Do not report this code')
            [CompletionResult]::new('--baseline', '--baseline', [CompletionResultType]::ParameterName, 'Do not report what this file lists')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How to print it')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour; auto is on a terminal')
            [CompletionResult]::new('--width', '--width', [CompletionResultType]::ParameterName, 'Cut rows to N columns; else to the terminal''s or COLUMNS')
            [CompletionResult]::new('--jobs', '--jobs', [CompletionResultType]::ParameterName, 'Work on N threads; else one a core, or four to migrate files')
            [CompletionResult]::new('--update-baseline', '--update-baseline', [CompletionResultType]::ParameterName, 'Write all that is found to the baseline file, and report only what cannot be read')
            [CompletionResult]::new('--why-leaf', '--why-leaf', [CompletionResultType]::ParameterName, 'Say which entry agents resume at and why, and list the tips of all branches')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Short for --format json')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Drop warnings and hints')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Drop warnings and hints')
            [CompletionResult]::new('--ascii', '--ascii', [CompletionResultType]::ParameterName, 'Draw with ASCII characters only')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'session-tree;completions' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour; auto is on a terminal')
            [CompletionResult]::new('--width', '--width', [CompletionResultType]::ParameterName, 'Cut rows to N columns; else to the terminal''s or COLUMNS')
            [CompletionResult]::new('--jobs', '--jobs', [CompletionResultType]::ParameterName, 'Work on N threads; else one a core, or four to migrate files')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Drop warnings and hints')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Drop warnings and hints')
            [CompletionResult]::new('--ascii', '--ascii', [CompletionResultType]::ParameterName, 'Draw with ASCII characters only')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'session-tree;help' {
            [CompletionResult]::new('tree', 'tree', [CompletionResultType]::ParameterValue, 'Print the tree of a session')
            [CompletionResult]::new('context', 'context', [CompletionResultType]::ParameterValue, 'Rebuild what the model would see at the leaf')
            [CompletionResult]::new('label', 'label', [CompletionResultType]::ParameterValue, 'List, print, set or clear labels')
            [CompletionResult]::new('branch', 'branch', [CompletionResultType]::ParameterValue, 'Fork a session into a new file, or list where one can')
            [CompletionResult]::new('navigate', 'navigate', [CompletionResultType]::ParameterValue, 'Move the leaf to another entry of the same file')
            [CompletionResult]::new('migrate', 'migrate', [CompletionResultType]::ParameterValue, 'Bring old session files to version 3')
            [CompletionResult]::new('check', 'check', [CompletionResultType]::ParameterValue, 'Say what is wrong with session files, what it costs, and how to get on')
            [CompletionResult]::new('completions', 'completions', [CompletionResultType]::ParameterValue, 'Print the completion script of a shell')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'session-tree;help;tree' {
            break
        }
        'session-tree;help;context' {
            break
        }
        'session-tree;help;label' {
            break
        }
        'session-tree;help;branch' {
            break
        }
        'session-tree;help;navigate' {
            break
        }
        'session-tree;help;migrate' {
            break
        }
        'session-tree;help;check' {
            break
        }
        'session-tree;help;completions' {
            break
        }
        'session-tree;help;help' {
            break
        }
    })

    $completions.Where{ $_.CompletionText -like "$wordToComplete*" } |
        Sort-Object -Property ListItemText
}
