#!/usr/bin/env bash
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
#
# requirements.in -> requirements.txt, and the part of it that requirements-run.in asks for -> requirements-run.txt.
# Versions already locked stay, unless the .in file says otherwise. No index or folder of this machine gets in.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."
source tests/support/common.sh

compile() {
    say "lock: $2 from $1 (minutes where an index does not tell the hashes and each file is read)"
    with_progress build/logs/lock.log .venv/bin/pip-compile --generate-hashes --allow-unsafe --strip-extras --no-header \
        --no-emit-index-url --no-emit-trusted-host --no-emit-find-links --output-file "$2" "$1"
}

compile requirements.in requirements.txt
# Begun from the whole lock, so that both files hold the same versions.
cp requirements.txt requirements-run.txt
compile requirements-run.in requirements-run.txt
