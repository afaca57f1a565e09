# Completion of modeldex for bash: source it, or put it into /usr/share/bash-completion/completions/modeldex.
_modeldex() {
	local IFS=$'\n'
	# shellcheck disable=SC2207 # bash 3.2 of macOS has no mapfile
	COMPREPLY=($(modeldex __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f1))
}
complete -o default -F _modeldex modeldex
