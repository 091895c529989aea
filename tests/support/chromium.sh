#!/usr/bin/env bash
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The documentation's pages are tested in Chromium. As root on Debian, this script installs it if it is missing.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."
source tests/support/common.sh

command -v chromium >/dev/null && exit 0
can_apt_install || fail "Chromium is needed to look at the documentation's pages." \
    "Install it so that the command chromium is on the PATH: apt-get install chromium (Debian), dnf install chromium (Fedora)."
apt_install chromium
command -v chromium >/dev/null || fail "The package chromium is installed, but there is no command of that name." \
    "Ubuntu's package needs snap: install Chromium in another way, and put it on the PATH."
