#!/usr/bin/env bash
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Import a Debian image and run tests/image, which builds the execution environment of awx/ on it. If no Docker engine
# responds, root starts one of its own: its images and layers, some gigabytes, are removed at the end.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."
source tests/support/common.sh
source tests/support/docker.sh

ENGINE_DATA=build/image/docker

finish() {
    [[ -n $ENGINE_PID ]] || return 0
    engine_stop
    rm -rf "$ENGINE_DATA"
}
trap finish EXIT
engine_start || fail "image: $ENGINE_WHY." "The engine's log: $ENGINE_LOG"
# The first line is the image, the others show progress.
KAFKA_DR_DEBIAN=$(bash molecule/docker/image.sh kafka-dr-debian python3,python3-venv,ca-certificates |
    tee /dev/stderr | sed -n 1p)
export KAFKA_DR_DEBIAN
say 'image: pytest tests/image (build/logs/image.log has the build)'
pytest --durations=10 tests/image
