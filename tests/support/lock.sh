#!/usr/bin/env bash
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
#
# requirements.in -> requirements.txt. Versions already locked stay, unless requirements.in says otherwise.
# No index or folder of this machine gets into the file.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."

.venv/bin/pip-compile --quiet --generate-hashes --allow-unsafe --strip-extras --no-header --no-emit-index-url \
    --no-emit-trusted-host --no-emit-find-links --output-file requirements.txt requirements.in
