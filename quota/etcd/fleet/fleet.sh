#!/usr/bin/env bash
# Starts three members of etcd, three servers and HAProxy on this machine, until Ctrl-C. Needs Go and
# the Debian packages etcd-server and haproxy. Everything is in a new directory, which is printed.
set -euo pipefail
cd "$(dirname "$0")/../../.."
dir=$(mktemp -d "${TMPDIR:-/tmp}/modeldex-fleet.XXXXXX")
echo "data and logs: $dir"
trap 'trap - EXIT; kill $(jobs -p) 2>/dev/null; wait' EXIT
trap 'exit 0' INT TERM

go build -o "$dir/modeldex" .
cluster=m0=http://127.0.0.1:23800,m1=http://127.0.0.1:23801,m2=http://127.0.0.1:23802
for i in 0 1 2; do
	etcd --name "m$i" --data-dir "$dir/etcd$i" --log-level warn --logger zap \
		--listen-client-urls "http://127.0.0.1:2379$i" --advertise-client-urls "http://127.0.0.1:2379$i" \
		--listen-peer-urls "http://127.0.0.1:2380$i" --initial-advertise-peer-urls "http://127.0.0.1:2380$i" \
		--initial-cluster "$cluster" --initial-cluster-state new \
		--auto-compaction-mode revision --auto-compaction-retention 10000 >"$dir/etcd$i.log" 2>&1 &
done
for i in 0 1 2; do
	"$dir/modeldex" serve --addr "127.0.0.1:808$((i + 1))" --admin-socket "$dir/admin$i.sock" \
		--ledger etcd://127.0.0.1:23790,127.0.0.1:23791,127.0.0.1:23792/modeldex \
		--trusted-proxies 127.0.0.1 >"$dir/server$i.log" 2>&1 &
done
haproxy -db -f quota/etcd/fleet/haproxy.cfg >"$dir/haproxy.log" 2>&1 &
for _ in $(seq 100); do
	if curl -fso /dev/null http://127.0.0.1:8080/readyz; then
		echo "the API of the fleet: http://127.0.0.1:8080 (Ctrl-C ends everything)"
		wait
	fi
	sleep 0.3
done
echo "the fleet did not become ready; see $dir" >&2
exit 1
