# shellcheck shell=bash
# What the scripts of this folder share.

step() { printf '\n== %s (%ss)\n' "$*" "$SECONDS"; }

# install PROGRAM [PACKAGE]: installs a Debian package if its program is missing.
install() {
	command -v "$1" >/dev/null || [ -x "/usr/sbin/$1" ] && return
	[ "${MODELDEX_CI_SKIP_INSTALL:-}" = 1 ] && return
	local sudo=
	[ "$(id -u)" = 0 ] || sudo=sudo
	[ -n "${updated:-}" ] || $sudo apt-get update -qq
	updated=1
	$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${2:-$1}" >/dev/null
}
