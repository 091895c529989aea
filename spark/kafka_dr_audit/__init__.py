# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Prove or refute that every record and every committed offset survived a move between two Kafka clusters.

Run as ``python -m kafka_dr_audit PLAN``.
"""
