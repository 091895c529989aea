# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Emulator of Aiven's API that controls real MirrorMaker 2 and real ACLs of Kafka. See roles/lab/AIVEN_EMULATOR.md."""
