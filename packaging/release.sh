#!/usr/bin/env bash
# Makes the files of a release from the commit that is checked out.
set -euo pipefail

usage() {
	cat <<'TEXT'
usage: packaging/release.sh [flag]...

Makes archives for Linux, macOS and Windows, deb and rpm packages, OCI images, a Homebrew formula and
SHA256SUMS from the commit that is checked out. The same commit and version give the same bytes on every
machine with the same Go. It needs Go, git, GNU tar, zip and jq.

  --version V     version without a leading v; default: the last tag and what came after it
  --out DIR       where the files go; default: dist. It must not exist
  --targets LIST  of OS/ARCH, separated by commas; default:
                  linux/amd64,linux/arm64,darwin/amd64,darwin/arm64,windows/amd64
  --url URL       where the files will be downloaded from, for the formula;
                  default: https://github.com/OWNER/NAME/releases/download/vVERSION
  --key FILE      ed25519 private key that signs SHA256SUMS (ssh-keygen -t ed25519); without it they are
                  not signed. The public key is put beside the files
  --quick         without -trimpath: what "go build" has compiled is used again. Not for a release
TEXT
}

version='' out=dist url='' key='' trim=-trimpath
targets=linux/amd64,linux/arm64,darwin/amd64,darwin/arm64,windows/amd64
while [ $# -gt 0 ]; do
	case $1 in
	--help) usage && exit ;;
	--quick) trim='' ;;
	--version | --out | --targets | --url | --key)
		[ $# -gt 1 ] || { echo "$1: has no value (see --help)" >&2 && exit 2; }
		printf -v "${1#--}" %s "$2"
		shift
		;;
	*) echo "unknown argument $1 (see --help)" >&2 && exit 2 ;;
	esac
	shift
done
[ -z "$key" ] || key=$(realpath "$key")
cd "$(dirname "$0")/.."
if [ -z "$version" ]; then
	version=$(git describe --tags --match 'v*' 2>/dev/null || echo "v0.0.0-0-g$(git rev-parse --short HEAD)")
	version=${version#v}
fi
[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$ ]] || { echo "--version: must be such as 1.2.3, got $version" >&2 && exit 2; }
url=${url:-https://github.com/OWNER/NAME/releases/download/v$version}
commit=$(git rev-parse HEAD)
epoch=$(git log -1 --format=%ct)
mkdir "$out"
out=$(realpath "$out")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# reproducible_tar FILE ARGUMENT...: a tar archive without names of users and times of this machine.
reproducible_tar() {
	local to=$1
	shift
	tar --sort=name --format=ustar --mtime="@$epoch" --owner=0 --group=0 --numeric-owner -cf "$to" "$@"
}

# build OS ARCH FILE: the program with the dataset of the commit, packed.
build() {
	local ldflags="-s -w -X main.version=$version -X main.commit=$commit"
	GOOS=$1 GOARCH=$2 CGO_ENABLED=0 go build -tags packed ${trim:+"$trim"} -buildvcs=false -ldflags "$ldflags" -o "$3" .
}

# archive OS ARCH: the program, its licence and completions.
archive() {
	local name=modeldex_${version}_$1_$2
	mkdir -p "$work/$name/completions"
	cp "$work/$1-$2"/modeldex* "$work/$name"
	cp LICENSE README.md CHANGELOG.md "$work/$name"
	cp packaging/completions/* "$work/$name/completions"
	if [ "$1" = windows ]; then
		find "$work/$name" -exec touch -d "@$epoch" {} +
		(cd "$work" && find "$name" | LC_ALL=C sort | TZ=UTC zip -qX "$out/$name.zip" -@)
	else
		reproducible_tar - -C "$work" "$name" | gzip -9n >"$out/$name.tar.gz"
	fi
}

# packages ARCH: deb and rpm.
packages() {
	local format
	for format in deb rpm; do
		ARCH=$1 VERSION=$version WORK=$work/linux-$1 HOMEPAGE=${url%/releases/*} SOURCE_DATE_EPOCH=$epoch go tool -modfile=.ci/nfpm/go.mod \
			nfpm package --config packaging/nfpm.yaml --packager "$format" --target "$out/modeldex_${version}_linux_$1.$format"
	done
}

# image ARCH: an OCI image as an archive, for docker load, podman load and skopeo. It has the program and nothing else,
# runs as a user without rights, and writes to /var/lib/modeldex alone.
image() {
	local dir=$work/image-$1 layer config manifest
	mkdir -p "$dir/root/tmp" "$dir/root/var/lib" "$dir/state/var/lib/modeldex" "$dir/oci/blobs/sha256"
	cp "$work/linux-$1/modeldex" "$dir/root/modeldex"
	chmod 1777 "$dir/root/tmp"
	reproducible_tar "$dir/layer.tar" -C "$dir/root" modeldex tmp var
	tar --format=ustar --mtime="@$epoch" --owner=65532 --group=65532 --numeric-owner -C "$dir/state" -rf "$dir/layer.tar" var/lib/modeldex
	gzip -9nk "$dir/layer.tar"
	blob() { # FILE: puts it into the image and prints its descriptor
		local sum
		sum=$(sha256sum <"$2" | cut -d' ' -f1)
		cp "$2" "$dir/oci/blobs/sha256/$sum"
		jq -cn --arg type "$1" --arg digest "sha256:$sum" --argjson size "$(stat -c %s "$2")" '{mediaType: $type, digest: $digest, size: $size}'
	}
	layer=$(blob application/vnd.oci.image.layer.v1.tar+gzip "$dir/layer.tar.gz")
	jq -cn --arg arch "$1" --arg diff "sha256:$(sha256sum <"$dir/layer.tar" | cut -d' ' -f1)" --arg created "$(date -u -d "@$epoch" +%Y-%m-%dT%H:%M:%SZ)" \
		--arg version "$version" --arg commit "$commit" '{
		created: $created, architecture: $arch, os: "linux", rootfs: {type: "layers", diff_ids: [$diff]},
		config: {
			User: "65532:65532", WorkingDir: "/var/lib/modeldex", Entrypoint: ["/modeldex"], Cmd: ["serve"],
			Env: ["MODELDEX_ADDR=0.0.0.0:8080"], ExposedPorts: {"8080/tcp": {}}, Volumes: {"/var/lib/modeldex": {}, "/tmp": {}},
			Labels: {"org.opencontainers.image.title": "modeldex", "org.opencontainers.image.licenses": "MIT",
				"org.opencontainers.image.version": $version, "org.opencontainers.image.revision": $commit}
		}}' >"$dir/config.json"
	config=$(blob application/vnd.oci.image.config.v1+json "$dir/config.json")
	jq -cn --argjson config "$config" --argjson layer "$layer" \
		'{schemaVersion: 2, mediaType: "application/vnd.oci.image.manifest.v1+json", config: $config, layers: [$layer]}' >"$dir/manifest.json"
	manifest=$(blob application/vnd.oci.image.manifest.v1+json "$dir/manifest.json")
	echo '{"imageLayoutVersion":"1.0.0"}' >"$dir/oci/oci-layout"
	jq -cn --argjson manifest "$manifest" --arg arch "$1" --arg version "$version" '{schemaVersion: 2, manifests: [$manifest + {
		platform: {architecture: $arch, os: "linux"},
		annotations: {"io.containerd.image.name": "modeldex:\($version)", "org.opencontainers.image.ref.name": $version}}]}' >"$dir/oci/index.json"
	reproducible_tar "$out/modeldex_${version}_linux_$1.oci.tar" -C "$dir/oci" blobs index.json oci-layout
}

# formula: for a tap of Homebrew.
formula() {
	cat <<-TEXT
		class Modeldex < Formula
		  desc "Which open-weight model runs on what, and how fast"
		  homepage "${url%/releases/*}"
		  version "$version"
		  license "MIT"

	TEXT
	local os arch file
	for os in darwin linux; do
		echo "  on_$([ $os = darwin ] && echo macos || echo linux) do"
		for arch in arm64 amd64; do
			file=modeldex_${version}_${os}_$arch.tar.gz
			[ -f "$out/$file" ] || continue
			cat <<-TEXT
				    on_$([ $arch = arm64 ] && echo arm || echo intel) do
				      url "$url/$file"
				      sha256 "$(sha256sum <"$out/$file" | cut -d' ' -f1)"
				    end
			TEXT
		done
		echo '  end'
	done
	cat <<-'TEXT'

		  def install
		    bin.install "modeldex"
		    generate_completions_from_executable bin/"modeldex", "completion"
		  end

		  service do
		    run [opt_bin/"modeldex", "serve"]
		    working_dir var/"modeldex"
		    keep_alive true
		  end

		  test do
		    assert_match version.to_s, shell_output("#{bin}/modeldex version")
		  end
		end
	TEXT
}

git diff --quiet HEAD -- || echo 'note: changes that are not committed are in the program, and not in its dataset' >&2
mapfile -t embedded < <(go list -f '{{join .EmbedFiles "\n"}}' . | grep ^data/)
git archive --format=zip -9 -o data.zip HEAD "${embedded[@]}"
for target in ${targets//,/ }; do
	os=${target%/*} arch=${target#*/}
	echo "$target"
	suffix=''
	[ "$os" != windows ] || suffix=.exe
	build "$os" "$arch" "$work/$os-$arch/modeldex$suffix"
	archive "$os" "$arch"
	if [ "$os" = linux ]; then
		packages "$arch"
		image "$arch"
	fi
done
formula >"$out/modeldex.rb"
rm data.zip
cd "$out"
sha256sum -- * >SHA256SUMS
if [ -n "$key" ]; then
	ssh-keygen -q -Y sign -f "$key" -n modeldex SHA256SUMS
	ssh-keygen -y -f "$key" | sed 's/^/modeldex /' >allowed_signers
fi
ls -l
