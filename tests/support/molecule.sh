#!/usr/bin/env bash
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Run all Molecule scenarios but strimzi, or Molecule with the given arguments: molecule.sh test --scenario-name=docker
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."
source tests/support/common.sh
source tests/support/docker.sh

(($#)) || set -- test --all
if [[ "$*" == *=strimzi* ]] && ! bash tests/support/kubernetes.sh --cached >/dev/null; then
    note_skip molecule "the scenario strimzi is SKIPPED: the cache has no kube-apiserver of this go.sum: run make kubernetes once"
    exit 0
fi
[[ "$*" != *--all* ]] || set -- "$@" --exclude strimzi
trap engine_stop EXIT
skipped=
if [[ "$*" == *--all* || "$*" == *=docker* ]] && ! engine_start; then
    skipped="the scenario docker is SKIPPED: $ENGINE_WHY"
    # CI can install an engine, so an unattended run must not pass without it.
    if [[ ${CI:-} == true ]] && can_apt_install; then fail "molecule: $skipped" "The engine's log: $ENGINE_LOG"; fi
    say "molecule: $skipped"
    set -- "$@" --exclude docker
fi
# The state of an interrupted run would make Molecule skip steps.
rm -rf "$ANSIBLE_HOME"/tmp/molecule.*
say "molecule: $*"
LOG=build/logs/molecule.log
mkdir -p build/logs
result=0
molecule "$@" 2>&1 | tee "$LOG" || result=$?
if ((result)); then
    # Print Ansible's own errors after the recap, without colours and frames, because only the end of a log may be kept.
    sed -e 's/\x1b\[[0-9;]*m//g' -e 's/^ *│ \{0,2\}//' "$LOG" | grep -A 24 '^\[ERROR\]' | tail -n 55 | cut -c 1-300 >&2 || true
    fail "molecule $* exited with $result." "The whole log: $LOG"
fi
# Repeat the note after all other output, and at the end of `make test`.
note_skip molecule "$skipped"
