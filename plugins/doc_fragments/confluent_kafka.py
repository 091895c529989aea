# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Python library that talks to Kafka. Private to this collection: may change in any release."""

from __future__ import annotations


class ModuleDocFragment:
    """``confluent_kafka`` for every module that connects to Kafka.

    The range is that of meta/ee-requirements.txt, the tested version that of requirements-run.in.
    """

    DOCUMENTATION = r"""
options: {}
requirements:
  - confluent-kafka >= 2.6, < 3 (Python library on the host that runs the task, tested with 2.16.1)
"""
