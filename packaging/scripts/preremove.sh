#!/bin/sh
# Before a removal ("remove" of dpkg, "0" of rpm), not before an upgrade.
set -e
if [ -d /run/systemd/system ] && { [ "$1" = remove ] || [ "$1" = 0 ]; }; then
	systemctl disable --now modeldex.service modeldex-backup.timer modeldex-data.timer
fi
