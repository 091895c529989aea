#!/usr/bin/env bash
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Make .venv hold exactly what requirements.txt pins. Done already: returns at once.
# PYTHON chooses the interpreter; otherwise the first of python3.11, python3.12, python3.13, python3 that works.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."
source tests/support/common.sh

STAMP=.venv/.kafka_dr

# The folder is part of it: the scripts of a virtual environment name it, a moved checkout needs a new one.
fingerprint() { printf '%s %s\n' "$(cksum <requirements.txt)" "$PWD"; }

is_new_enough() { "$1" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' >/dev/null 2>&1; }

find_python() {
    local candidate
    if [[ -n "${PYTHON:-}" ]]; then
        is_new_enough "$PYTHON" || fail "PYTHON=$PYTHON is not a working Python 3.11, 3.12 or 3.13." \
            "Set PYTHON to one that is, or leave it out to search the PATH."
        echo "$PYTHON"
        return
    fi
    for candidate in python3.11 python3.12 python3.13 python3; do
        if is_new_enough "$candidate"; then
            echo "$candidate"
            return
        fi
    done
    fail "No Python 3.11, 3.12 or 3.13 on the PATH." \
        "Install one (Debian 12, Ubuntu 24.04: python3 and python3-venv), or set PYTHON=/path/to/python3.11."
}

create() {
    local python version
    python=$(find_python)
    version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
        can_apt_install || fail "$python has no venv module. Install the package python$version-venv."
        apt_install "python$version-venv"
    fi
    say "setup: creating .venv with $python"
    "$python" -m venv --clear .venv
}

install() {
    say "setup: installing the packages of requirements.txt (a minute or two when nothing is cached)"
    with_progress build/logs/pip.log .venv/bin/python -m pip install --progress-bar off --require-hashes \
        --requirement requirements.txt
}

[[ -f "$STAMP" && "$(cat "$STAMP")" == "$(fingerprint)" ]] && exit 0
if [[ -f "$STAMP" && "$(cat "$STAMP")" != *" $PWD" ]] || ! is_new_enough .venv/bin/python; then
    create
fi
install
fingerprint >"$STAMP"
