#!/usr/bin/env bash
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
#
# All Molecule scenarios, or what the arguments say: molecule.sh converge --scenario-name default
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."
source tests/support/common.sh

if (($# == 0)); then
    set -- test --all
fi
say "molecule: $*"
molecule "$@"
