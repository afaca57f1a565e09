#!/usr/bin/env bash
# Starts modeldex behind Caddy, signs up, asks five questions and prints pages as pictures.
set -euo pipefail

usage() {
	cat <<'TEXT'
usage: packaging/demo.sh [--pictures DIR] [--image FILE] [PROGRAM]

Starts PROGRAM (default: modeldex of the PATH), or the OCI image of FILE with podman, on a port of its own behind
Caddy with a certificate of its own, and ends it again. It needs caddy, curl, jq and chromium.

  --pictures DIR  where the pictures go; default: demo
TEXT
}

pictures=demo program=modeldex image=''
while [ $# -gt 0 ]; do
	case $1 in
	--help) usage && exit ;;
	--pictures | --image) printf -v "${1#--}" %s "$2" && shift ;;
	-*) echo "unknown flag $1 (see --help)" >&2 && exit 2 ;;
	*) program=$1 ;;
	esac
	shift
done
for needed in caddy curl jq chromium; do
	command -v $needed >/dev/null || { echo "$needed is not installed" >&2 && exit 1; }
done
[[ $program != */* ]] || program=$(realpath "$program")
mkdir -p "$pictures"
pictures=$(realpath "$pictures")
here=$(realpath "$(dirname "$0")")
work=$(mktemp -d)
running=()
trap 'kill "${running[@]}" 2>/dev/null; wait; rm -rf "$work"' EXIT
cd "$work"
free_port() { # one that nobody listens on
	local port
	while port=$((20000 + RANDOM % 20000)) && (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do :; done
	echo "$port"
}
server=127.0.0.1:$(free_port) site=localhost:$(free_port)

export MODELDEX_ADDR=$server MODELDEX_TRUSTED_PROXIES=127.0.0.1 MODELDEX_BASE_URL=https://$site
if [ -n "$image" ]; then
	mkdir state && chmod 777 state
	podman run --rm --read-only --tmpfs /tmp --network host --volume "$work/state:/var/lib/modeldex" --env MODELDEX_ADDR --env MODELDEX_TRUSTED_PROXIES \
		--env MODELDEX_BASE_URL "oci-archive:$image" >server.log 2>&1 &
else
	"$program" serve >server.log 2>&1 &
fi
running+=($!)

printf '{\n\tadmin off\n\tauto_https disable_redirects\n\tskip_install_trust\n\tlocal_certs\n}\n' >Caddyfile
sed -e "s/models.example.org/$site/" -e "s/127.0.0.1:8080/$server/" "$here/Caddyfile" >>Caddyfile
HOME=$work XDG_DATA_HOME=$work XDG_CONFIG_HOME=$work caddy run --config Caddyfile --adapter caddyfile >caddy.log 2>&1 &
running+=($!)

call() { curl -sS --fail-with-body --cacert caddy/pki/authorities/local/root.crt "$@"; }
for ((i = 0; ; i++)); do
	! call "https://$site/readyz" >ready 2>/dev/null || break
	[ $i -lt 120 ] || { tail -n 20 server.log caddy.log >&2 && exit 1; }
	sleep 0.5
done
echo "serving https://$site: $(jq -r .dataset_version ready)"

key=$(call "https://$site/api/v1/keys" -H 'Content-Type: application/json' \
	-d '{"name":"demo","email":"demo@example.org","use_case":"a demonstration"}' | jq -er .data.key)
echo "signed up: ${key%%_*}_..."

# ask QUESTION FILTER PATH [NAME=VALUE]...: asks the API and prints what a filter of jq takes from its answer.
ask() {
	local question=$1 filter=$2 path=$3 value values=()
	for value in "${@:4}"; do values+=(--data-urlencode "$value"); done
	printf '\n%s\n' "$question"
	call -G "https://$site/api/v1/$path" -H "Authorization: Bearer $key" "${values[@]}" | jq -er "$filter" | sed 's/^/  /'
}
ask 'Does gpt-oss-120b run on an RTX PRO 6000?' '.data | "\(.verdict) as \(.sizes[0].quantization), \(.sizes[0].speed.tps | numbers) tokens per second"' \
	fit model=gpt-oss-120b 'hardware=RTX PRO 6000 Blackwell'
ask 'What runs on an RTX 4090?' '.data[:3][].name' models 'fits=RTX 4090' sort=-intelligence limit=3
ask 'On what does gpt-oss-20b run?' '.data[:3][].name' hardware runs=gpt-oss-20b limit=3
ask 'How fast is it on an RTX 4090, measured?' '.data[0] | "\(.generation_tps) tokens per second, \(.source_url)"' \
	benchmarks 'hardware=RTX 4090' model=gpt-oss-20b sort=-generation_tps limit=1
ask 'What is unsloth/Qwen3-8B-GGUF:Q4_K_M?' '.data | "the \(.kind) \(.slug)"' resolve q=unsloth/Qwen3-8B-GGUF:Q4_K_M

echo
for page in front:/ hardware:/hardware/nvidia-rtx-4090 model:/models/gpt-oss-20b status:/status; do
	timeout 60 chromium --headless --no-sandbox --disable-gpu --ignore-certificate-errors --user-data-dir="$work/chromium" \
		--window-size=1200,900 --screenshot="$pictures/${page%%:*}.png" "https://$site${page#*:}" >/dev/null 2>&1
	[ "$(stat -c %s "$pictures/${page%%:*}.png")" -gt 20000 ] # an empty page is smaller
	echo "$pictures/${page%%:*}.png"
done
