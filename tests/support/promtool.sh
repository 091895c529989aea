#!/usr/bin/env bash
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Print the path of promtool, which checks and evaluates alert rules. If it is missing, it is extracted from Debian's
# package prometheus into the cache. Nothing is installed, and no service runs.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."
source tests/support/common.sh

if found=$(command -v promtool); then
    echo "$found"
    exit
fi
CACHE=$(cache_dir)/promtool
if [[ ! -x "$CACHE/promtool" ]]; then
    if ! command -v apt-get >/dev/null || ! command -v dpkg-deb >/dev/null; then
        fail "There is no promtool on the PATH, and no apt-get to fetch it with." "It comes with Prometheus."
    fi
    mkdir -p "$CACHE"
    work=$(mktemp --directory "$CACHE/work.XXXXXX")
    trap 'rm -rf "$work"' EXIT
    # Without package lists, as in a new container, try a second time.
    download() { (cd -- "$work" && apt-get download prometheus >log 2>&1); }
    download || { can_apt_install && apt-get update >/dev/null 2>&1 && download; } ||
        fail "Debian's package prometheus, which holds promtool, cannot be had: $(last_line "$work/log")"
    dpkg-deb --extract "$work"/prometheus_*.deb "$work/unpacked"
    mv "$work/unpacked/usr/bin/promtool" "$CACHE/promtool"
fi
echo "$CACHE/promtool"
