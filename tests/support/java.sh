#!/usr/bin/env bash
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Kafka, Connect and Spark need Java 17 or newer. As root on Debian or Ubuntu, this script installs it if it is missing.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."
source tests/support/common.sh

PACKAGE=openjdk-17-jre-headless
WANTED=17

java_command() {
    if [[ -n "${JAVA_HOME:-}" ]]; then echo "$JAVA_HOME/bin/java"; else echo java; fi
}

# Prints the major version (8 reports 1.8), or nothing without a working Java.
java_version() { "$(java_command)" -version 2>&1 | sed -En 's/.* version "(1\.)?([0-9]+).*/\2/p' | head -n 1; }

found=$(java_version || true)
((${found:-0} >= WANTED)) && exit 0

if [[ -n "${JAVA_HOME:-}" ]]; then
    fail "JAVA_HOME=$JAVA_HOME is not a Java $WANTED or 21; version found: ${found:-none}." \
        "Point JAVA_HOME to one, or unset it to use the java on the PATH."
fi
if ! can_apt_install; then
    fail "Java $WANTED or 21 is needed, found: ${found:-none}." \
        "Install it: apt-get install $PACKAGE (Debian, Ubuntu), dnf install java-17-openjdk-headless (Fedora, RHEL)."
fi
apt_install "$PACKAGE"
found=$(java_version || true)
((${found:-0} >= WANTED)) || fail "$PACKAGE is installed, but java on the PATH is ${found:-missing}." \
    "Set JAVA_HOME to the folder of Java $WANTED below /usr/lib/jvm."
