#!/usr/bin/env bash
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Build the real kube-apiserver and etcd of tests/kubernetes into the cache, and print the folder. The folder's name is
# the checksum of go.sum, so an unchanged go.sum builds once: about 650 seconds of processor time, 131 MB.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."
# shellcheck source=tests/support/common.sh
source tests/support/common.sh

sources=tests/kubernetes
folder=$(cache_dir)/kubernetes/$(cat "$sources/go.mod" "$sources/go.sum" | sha256sum | cut -c 1-16)
if [[ -x $folder/kube-apiserver && -x $folder/etcd ]]; then
    printf '%s\n' "$folder"
    exit 0
fi
[[ ${1:-} != --cached ]] || exit 3
command -v go >/dev/null || fail "go is not installed, and the cache has no kube-apiserver of this go.sum" \
    "Install Go 1.26 or newer, or set KAFKA_DR_CACHE to a cache that has $folder"

say "kubernetes: building kube-apiserver and etcd, once for this go.sum (10 to 20 minutes on two processors)" >&2
made=$folder.$$
mkdir -p "$made"
trap 'rm -rf "$made"' EXIT
output=$(realpath -- "$made")
log=$PWD/build/logs/kubernetes-build.log
mkdir -p "${log%/*}"
# -p=2: the linker alone takes 1.9 GB, and each compiler of the large packages several hundred MB.
build() { nice -n 15 go build -mod=readonly -trimpath -buildvcs=false -p=2 -ldflags='-s -w' -o "$1" "$2" >>"$log" 2>&1; }
: >"$log"
(cd "$sources" && build "$output/etcd" ./etcd && build "$output/kube-apiserver" ./apiserver) || {
    tail -n 30 "$log" >&2
    fail "the build of kube-apiserver and etcd failed. The whole log: $log"
}
# A build of another process may have been first.
mv -T "$made" "$folder" 2>/dev/null || [[ -x $folder/kube-apiserver ]]
printf '%s\n' "$folder"
