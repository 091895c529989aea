#!/usr/bin/env bash
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Print a folder above ansible_collections with the collection awx.awx. It is extracted from the Python package ansible
# and stays in the cache.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."
source tests/support/common.sh

VERSION=12.3.0
SHA256=cd156f82fa87f7a899212b0efa9f7ca3a24d609212de9f78428a572eb01e5414
FOLDER=$(cache_dir)/awx-$VERSION
if [[ ! -d "$FOLDER" ]]; then
    mkdir -p "$(cache_dir)"
    work=$(mktemp --directory "$(cache_dir)/awx.XXXXXX")
    trap 'rm -rf "$work"' EXIT
    echo "ansible==$VERSION --hash=sha256:$SHA256" >"$work/requirements.txt"
    python -m pip download --quiet --no-deps --only-binary :all: --require-hashes --dest "$work" \
        --requirement "$work/requirements.txt" >"$work/log" 2>&1 ||
        fail "The Python package ansible $VERSION, which holds awx.awx, cannot be had: $(last_line "$work/log")"
    python - "$work"/ansible-*.whl "$work/unpacked" <<'PYTHON'
import sys
import zipfile

with zipfile.ZipFile(sys.argv[1]) as wheel:
    wheel.extractall(sys.argv[2], [name for name in wheel.namelist() if name.startswith("ansible_collections/awx/")])
PYTHON
    mv "$work/unpacked" "$FOLDER"
fi
echo "$FOLDER"
