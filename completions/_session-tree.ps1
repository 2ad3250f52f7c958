
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
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour [default: on a terminal]')
            [CompletionResult]::new('--width', '--width', [CompletionResultType]::ParameterName, 'Cut lines to N columns [default: the terminal, else COLUMNS, else uncut]')
            [CompletionResult]::new('--jobs', '--jobs', [CompletionResultType]::ParameterName, 'Read large files on N threads [default: one a core]')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Drop warnings and hints')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Drop warnings and hints')
            [CompletionResult]::new('--ascii', '--ascii', [CompletionResultType]::ParameterName, 'Draw with ASCII characters only')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('tree', 'tree', [CompletionResultType]::ParameterValue, 'Print the tree of a session')
            [CompletionResult]::new('context', 'context', [CompletionResultType]::ParameterValue, 'Rebuild what the model would see at the leaf')
            [CompletionResult]::new('label', 'label', [CompletionResultType]::ParameterValue, 'List the labels of a session, or print one')
            [CompletionResult]::new('branch', 'branch', [CompletionResultType]::ParameterValue, 'List the user messages that one can branch from')
            [CompletionResult]::new('completions', 'completions', [CompletionResultType]::ParameterValue, 'Print the completion script of a shell')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'session-tree;tree' {
            [CompletionResult]::new('--filter', '--filter', [CompletionResultType]::ParameterName, 'Which entries to show')
            [CompletionResult]::new('--search', '--search', [CompletionResultType]::ParameterName, 'Show only entries that contain all these words, in any case')
            [CompletionResult]::new('--entry', '--entry', [CompletionResultType]::ParameterName, 'Print this entry whole instead of the tree; may be given several times')
            [CompletionResult]::new('--leaf', '--leaf', [CompletionResultType]::ParameterName, 'Work from this entry instead of the file''s leaf')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How to print it')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour [default: on a terminal]')
            [CompletionResult]::new('--width', '--width', [CompletionResultType]::ParameterName, 'Cut lines to N columns [default: the terminal, else COLUMNS, else uncut]')
            [CompletionResult]::new('--jobs', '--jobs', [CompletionResultType]::ParameterName, 'Read large files on N threads [default: one a core]')
            [CompletionResult]::new('--path', '--path', [CompletionResultType]::ParameterName, 'Show only the path from the root to the leaf')
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
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour [default: on a terminal]')
            [CompletionResult]::new('--width', '--width', [CompletionResultType]::ParameterName, 'Cut lines to N columns [default: the terminal, else COLUMNS, else uncut]')
            [CompletionResult]::new('--jobs', '--jobs', [CompletionResultType]::ParameterName, 'Read large files on N threads [default: one a core]')
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
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How to print it')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour [default: on a terminal]')
            [CompletionResult]::new('--width', '--width', [CompletionResultType]::ParameterName, 'Cut lines to N columns [default: the terminal, else COLUMNS, else uncut]')
            [CompletionResult]::new('--jobs', '--jobs', [CompletionResultType]::ParameterName, 'Read large files on N threads [default: one a core]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Short for --format json')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Drop warnings and hints')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Drop warnings and hints')
            [CompletionResult]::new('--ascii', '--ascii', [CompletionResultType]::ParameterName, 'Draw with ASCII characters only')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'session-tree;branch' {
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How to print it')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour [default: on a terminal]')
            [CompletionResult]::new('--width', '--width', [CompletionResultType]::ParameterName, 'Cut lines to N columns [default: the terminal, else COLUMNS, else uncut]')
            [CompletionResult]::new('--jobs', '--jobs', [CompletionResultType]::ParameterName, 'Read large files on N threads [default: one a core]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Short for --format json')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Drop warnings and hints')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Drop warnings and hints')
            [CompletionResult]::new('--ascii', '--ascii', [CompletionResultType]::ParameterName, 'Draw with ASCII characters only')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'session-tree;completions' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour [default: on a terminal]')
            [CompletionResult]::new('--width', '--width', [CompletionResultType]::ParameterName, 'Cut lines to N columns [default: the terminal, else COLUMNS, else uncut]')
            [CompletionResult]::new('--jobs', '--jobs', [CompletionResultType]::ParameterName, 'Read large files on N threads [default: one a core]')
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
            [CompletionResult]::new('label', 'label', [CompletionResultType]::ParameterValue, 'List the labels of a session, or print one')
            [CompletionResult]::new('branch', 'branch', [CompletionResultType]::ParameterValue, 'List the user messages that one can branch from')
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
