# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Faults of topics while a playbook runs."""

from __future__ import annotations

from confluent_kafka.admin import AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType

from brokers import admin
from lab.lab import Lab


def hold_copies(lab: Lab, alias: str, topic: str, hold: bool) -> None:
    """MirrorMaker 2 stays RUNNING and replicates nothing, because its producer gets a retriable error each time.

    With one replica, ``min.insync.replicas`` of 2 refuses every write with acks=all (NOT_ENOUGH_REPLICAS).
    """
    entry = ConfigEntry("min.insync.replicas", "2" if hold else "1", incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[entry])
    client = admin(lab, alias)
    for done in client.incremental_alter_configs([resource]).values():
        done.result()


def delete_topic(lab: Lab, alias: str, topic: str) -> None:
    """Delete a topic, as an administrator might."""
    client = admin(lab, alias)
    for done in client.delete_topics([topic]).values():
        done.result()
