#!/usr/bin/env bash
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Make the checkout importable: Ansible and Python expect it below a folder ansible_collections.
# The link is relative, so a moved checkout keeps working.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."

place=build/collections/ansible_collections/switchback
wanted=../../../..

mkdir -p "$place"
if [[ "$(readlink "$place/kafka_dr" || true)" != "$wanted" ]]; then
    rm -f "$place/kafka_dr"
    ln -s "$wanted" "$place/kafka_dr"
    echo "==> link: $place/kafka_dr"
fi
