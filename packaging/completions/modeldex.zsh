#compdef modeldex
# Completion of modeldex for zsh: source it, or put it into a directory of $fpath as _modeldex.
_modeldex() {
	local -a found
	found=("${(@f)$(modeldex __complete "${(@)words[2,CURRENT]}" 2>/dev/null | sed -e 's/:/\\:/g' -e $'s/\t/:/')}")
	if [[ -n $found[1] ]]; then
		_describe modeldex found
	else
		_files
	fi
}
if [[ $funcstack[1] == _modeldex ]]; then
	_modeldex
else
	compdef _modeldex modeldex
fi
