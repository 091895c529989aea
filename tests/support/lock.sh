#!/usr/bin/env bash
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Compile requirements.in to requirements.txt, and requirements-run.in to requirements-run.txt with the same versions.
# Locked versions stay, unless the .in file changes them. The output names no index or folder of this machine.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."
source tests/support/common.sh

compile() {
    say "lock: $2 from $1 (minutes if an index has no hashes and each file is read)"
    with_progress build/logs/lock.log .venv/bin/pip-compile --generate-hashes --allow-unsafe --strip-extras --no-header \
        --no-emit-index-url --no-emit-trusted-host --no-emit-find-links --output-file "$2" "$1"
}

compile requirements.in requirements.txt
# Start from the whole lock, so that both files have the same versions.
cp requirements.txt requirements-run.txt
compile requirements-run.in requirements-run.txt
