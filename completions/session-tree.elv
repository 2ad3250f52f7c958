# Completion of session-tree in elvish.
use str
set edit:completion:arg-completer[session-tree] = {|@words|
    var lines = []
    try {
        set lines = [(e:session-tree completions elvish -- $@words 2>/dev/null </dev/null | from-lines)]
    } catch {
        # Nothing to offer.
    }
    for line $lines {
        var value @about = (str:split &max=2 "\t" $line)
        var suffix = ' '
        if (str:has-suffix $value '/') { set suffix = '' }
        if (== (count $about) 0) {
            edit:complex-candidate $value &code-suffix=$suffix
        } else {
            edit:complex-candidate $value &code-suffix=$suffix &display=$value'  '$about[0]
        }
    }
}
