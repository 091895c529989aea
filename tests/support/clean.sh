#!/usr/bin/env bash
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Stop every lab below build/, then remove the files of the tools. Keeps .venv and the download cache.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."
source tests/support/common.sh

if [[ -d build ]]; then
    # Removing the folder of a running lab would leave processes that cannot be found any more.
    while IFS= read -r -d '' lab; do
        say "clean: stopping the lab in $(dirname -- "$lab")"
        .venv/bin/python roles/lab/files/lab down --dir "$(dirname -- "$lab")"
    done < <(find build -name lab.json -not -path '*/collections/*' -print0)
fi
say 'clean: removing build and the caches of the tools'
rm -rf build .ansible .hypothesis .mypy_cache .pytest_cache .ruff_cache tests/output
