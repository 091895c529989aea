#!/usr/bin/env bash
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
#
# image.sh IMAGE [PACKAGES]: imports a Debian root file system with these packages, by default Java and Python, into the
# Docker engine and prints IMAGE with a tag for its release and packages. Does nothing if the image exists. The packages
# come from the package source of this machine, and the root file system is cached. Uses no image registry.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."
source tests/support/common.sh

PACKAGES=${2:-openjdk-17-jre-headless,python3}
# Unused folders, which would double the size of the image.
UNUSED=(var/cache/apt var/lib/apt/lists usr/share/doc usr/share/man usr/share/locale)

docker info >/dev/null 2>&1 || fail 'No Docker engine responds.' 'As root, make molecule starts one (tests/support/docker.sh).'
source /etc/os-release
[[ $ID == debian ]] || fail "The image needs Debian packages, but this machine runs $PRETTY_NAME."
TAG=$VERSION_CODENAME-$(dpkg --print-architecture)-$(cksum <<<"$PACKAGES" | cut -d ' ' -f 1)
IMAGE=$1:$TAG
kept=$(cache_dir)/debian-$TAG.tar.gz
echo "$IMAGE"
if docker image inspect "$IMAGE" >/dev/null 2>&1; then exit 0; fi

mirror() {
    # shellcheck disable=SC2016 # variables of apt, not of the shell
    apt-get indextargets --format '$(REPO_URI) $(CODENAME) $(COMPONENT)' 'Created-By: Packages' |
        awk -v codename="$VERSION_CODENAME" '$2 == codename && $3 == "main" {print $1; exit}'
}

root_file_system() {
    local work
    command -v debootstrap >/dev/null || { can_apt_install && apt_install debootstrap; } ||
        fail 'debootstrap is not installed.' 'Install it: apt-get install debootstrap'
    [[ $(id -u) -eq 0 ]] || fail 'Only root can create the root file system of the image.'
    mkdir -p "$(dirname -- "$kept")"
    work=$(mktemp -d "$kept.XXXX")
    # shellcheck disable=SC2064 # expand $work now
    trap "rm -rf '$work'" EXIT
    with_progress build/logs/debootstrap.log debootstrap --variant=minbase --include="$PACKAGES" "$VERSION_CODENAME" \
        "$work/root" "$(mirror)"
    (cd "$work/root" && rm -rf "${UNUSED[@]}")
    tar -C "$work/root" -cf - . | gzip -1 >"$work/done"
    mv "$work/done" "$kept"
}

if ! [[ -f $kept ]]; then
    say 'docker: creating the root file system of the image (some minutes, the first time only)'
    root_file_system
fi
say "docker: importing the image $IMAGE"
docker import "$kept" "$IMAGE" >/dev/null
