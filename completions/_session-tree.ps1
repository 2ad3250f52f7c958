# Completion of session-tree in PowerShell.
Register-ArgumentCompleter -Native -CommandName 'session-tree' -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $words = @(
        foreach ($element in $commandAst.CommandElements) {
            if ($element.Extent.EndOffset -ge $cursorPosition) { break }
            if ($element -is [System.Management.Automation.Language.StringConstantExpressionAst]) {
                $element.Value
            } else {
                $element.Extent.Text
            }
        }
    )
    # Before version 7.3 an empty word would be dropped: the one at the cursor gets a dot.
    $word = '.' + $wordToComplete.Trim("'").Replace("''", "'")
    session-tree completions powershell -- @words $word 2>$null | ForEach-Object {
        $value, $about = $_ -split "`t", 2
        if (-not $about) { $about = $value }
        $shown = $value.Trim("'").Replace("''", "'")
        [System.Management.Automation.CompletionResult]::new($value, $shown, 'ParameterValue', $about)
    }
}
