#!/bin/sh
# After an installation or an upgrade: users, their directories, and a new start of a server that runs.
set -e
if command -v systemd-sysusers >/dev/null; then
	systemd-sysusers modeldex.conf
else # a container
	for user in modeldex modeldex-data; do
		id "$user" >/dev/null 2>&1 ||
			useradd --system --user-group --home-dir "/var/lib/$user" --no-create-home --shell /usr/sbin/nologin "$user"
	done
fi
[ -e /var/lib/modeldex ] || install -d -m 0750 -o modeldex -g modeldex /var/lib/modeldex
[ -e /var/lib/modeldex-data ] || install -d -m 0755 -o modeldex-data -g modeldex-data /var/lib/modeldex-data
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
	systemctl try-restart modeldex.service
fi
