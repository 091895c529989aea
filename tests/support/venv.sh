#!/usr/bin/env bash
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Install the pins of a requirements file into .venv: venv.sh [requirements-run.txt]. A second call returns at once.
# PYTHON chooses the interpreter; otherwise the first of python3.11, python3.12, python3.13, python3 that works.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."
source tests/support/common.sh

WHOLE=requirements.txt
WANTED=${1:-$WHOLE}

# The completely installed requirements, and the folder: a virtual environment's scripts have its path, so a moved
# checkout needs a new one.
stamp() { printf '.venv/.installed-%s\n' "$1"; }
fingerprint() { printf '%s %s\n' "$(cksum <"$1")" "$PWD"; }
is_installed() { [[ -f "$(stamp "$1")" && "$(<"$(stamp "$1")")" == "$(fingerprint "$1")" ]]; }
was_moved() { [[ -f .venv/.made-in && "$(<.venv/.made-in)" != "$PWD" ]]; }
works() { is_new_enough .venv/bin/python && .venv/bin/python -c 'import pip' 2>/dev/null; }

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

# Do not byte-compile: Python compiles the modules that are used, and the first start is faster.
install() {
    say "setup: installing the packages of $WANTED (a minute or two)"
    with_progress build/logs/pip.log .venv/bin/python -m pip install --progress-bar off --no-compile --require-hashes \
        --requirement "$WANTED"
    printf '%s\n' "$PWD" >.venv/.made-in
    fingerprint "$WANTED" >"$(stamp "$WANTED")"
}

# The complete requirements include the runtime ones.
if is_installed "$WANTED" || is_installed "$WHOLE"; then exit 0; fi
if was_moved || ! works; then create; fi
install
