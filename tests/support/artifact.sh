#!/usr/bin/env bash
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Build the collection's tarball from the files that git tracks into build/dist, and print its path.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."
source tests/support/common.sh

DIST=build/dist
rm -rf "$DIST"
copy_checkout "$DIST/copy"
ansible-galaxy collection build "$DIST/copy" --output-path "$DIST" >/dev/null
echo "$PWD/$(echo "$DIST"/*.tar.gz)"
