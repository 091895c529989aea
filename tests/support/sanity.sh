#!/usr/bin/env bash
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Run every test of ansible-test sanity on a copy of the checkout, without containers and without ignore files.
#
# 1. copy      ansible-test needs a real folder .../ansible_collections/switchback/kafka_dr with a git repository:
#              the copy has tracked and new files, but no ignored ones.
# 2. home      its virtual environments are below $HOME/.ansible/test. HOME is a folder of our own cache, so
#              that the user's home is not changed and a second run takes seconds.
# 3. run       arguments go to ansible-test: sanity.sh --test validate-modules
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."
source tests/support/common.sh

ROOT=$PWD
COPY=$ROOT/build/sanity/ansible_collections/switchback/kafka_dr
TEST_HOME=$(cache_dir)/ansible-test-home
PYTHON_VERSION=$(.venv/bin/python -c 'import sys; print("%d.%d" % sys.version_info[:2])')

say "sanity: copying the checkout"
copy_checkout "$COPY"
mkdir -p "$TEST_HOME"
git -C "$COPY" init --quiet
git -C "$COPY" add --all

.venv/bin/python tests/support/sanity_home.py "$TEST_HOME"

say "sanity: ansible-test with Python $PYTHON_VERSION (about a minute the first time, seconds afterwards)"
# Two checkouts share the virtual environments: one at a time.
if command -v flock >/dev/null; then
    exec 9>"$TEST_HOME/lock"
    flock 9
fi
LOG=$ROOT/build/logs/sanity.log
# The output of pip for the virtual environments only goes to the log.
PIP_CHATTER='^(Collecting|Processing|Using cached|Looking in|Installing collected|Successfully) |^  +[^ ]'
mkdir -p "$(dirname -- "$LOG")"
cd -- "$COPY"
HOME=$TEST_HOME PATH=$ROOT/.venv/bin:$PATH ansible-test sanity --python "$PYTHON_VERSION" --color no "$@" 2>&1 |
    tee "$LOG" | { grep --line-buffered -vE "$PIP_CHATTER" || true; } ||
    fail "ansible-test sanity found problems, listed above. The whole log: $LOG"

# A test whose program is missing prints a warning and exits with 0.
if grep -E 'Required program|Skipping' "$LOG"; then
    fail 'ansible-test sanity has left something out, named above.' 'make setup brings what it needs.'
fi
ran=$(sed -n 's/^Running sanity test "\([a-z0-9-]*\)".*/\1/p' "$LOG" | sort -u)
say "sanity: ran $(wc -l <<<"$ran"): $(paste -sd ' ' <<<"$ran")"
if (($# == 0)); then
    known=$(HOME=$TEST_HOME PATH=$ROOT/.venv/bin:$PATH ansible-test sanity --list-tests | grep -E "^[a-z0-9-]+$" | sort -u)
    left=$(comm -23 <(echo "$known") <(echo "$ran"))
    [[ -n $known && -z $left ]] || fail "ansible-test sanity has not run: ${left:-anything that it knows}"
fi
