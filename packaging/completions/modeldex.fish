# Completion of modeldex for fish: put it into /usr/share/fish/vendor_completions.d or ~/.config/fish/completions.
function __modeldex
    set -l words (commandline -opc) (commandline -ct)
    set -l found (modeldex __complete $words[2..] 2>/dev/null)
    if test (count $found) -gt 0
        string join \n $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c modeldex -f -a '(__modeldex)'
