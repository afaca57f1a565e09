#!/bin/sh
# A removal keeps settings, keys and quota; "apt purge" removes them. Backups stay.
set -e
if [ "$1" = purge ]; then
	rm -rf /etc/modeldex /var/lib/modeldex /var/lib/private/modeldex /var/lib/modeldex-data
fi
[ ! -d /run/systemd/system ] || systemctl daemon-reload
