#!/usr/bin/env bash
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
#
# All Molecule scenarios, or what the arguments say: molecule.sh test --scenario-name=docker
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."
source tests/support/common.sh
source tests/support/docker.sh

(($#)) || set -- test --all
trap engine_stop EXIT
if [[ "$*" == *--all* || "$*" == *=docker* ]] && ! engine_start; then
    say "molecule: the scenario docker is SKIPPED: $ENGINE_WHY"
    set -- "$@" --exclude docker
fi
# What Molecule remembers of a run that was interrupted would make it skip steps.
rm -rf "$ANSIBLE_HOME"/tmp/molecule.*
say "molecule: $*"
molecule "$@"
