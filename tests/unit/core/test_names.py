# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The names of MirrorMaker 2, and which topics are internal."""

from __future__ import annotations

import re

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.names import (
    JOURNAL_TOPIC,
    Naming,
    connector_name,
    flow_name,
    is_internal,
    naming_of,
)


@pytest.mark.parametrize(
    ("naming", "replica", "checkpoints", "syncs", "heartbeats"),
    [
        (naming_of(), "P.Payments", "P.checkpoints.internal", "mm2-offset-syncs.P.internal", "P.heartbeats"),
        (
            naming_of("default", "_"),
            "P_Payments",
            "P_checkpoints_internal",
            "mm2-offset-syncs_P_internal",
            "P_heartbeats",
        ),
        # The identity policy only changes the names of replicas: internal names and heartbeats keep their prefix.
        (naming_of("identity"), "Payments", "P.checkpoints.internal", "mm2-offset-syncs.P.internal", "P.heartbeats"),
    ],
)
def test_the_names_of_a_flow_from_p(
    naming: Naming, replica: str, checkpoints: str, syncs: str, heartbeats: str
) -> None:
    assert naming.replica("P", "Payments") == replica
    assert naming.checkpoints("P") == checkpoints
    assert naming.offset_syncs("P") == syncs
    assert naming.heartbeats("P") == heartbeats


def test_connectors_are_named_as_strimzi_names_them() -> None:
    assert flow_name("P", "B") == "P->B"
    names = [connector_name("P", "B", part) for part in ("source", "checkpoint", "heartbeat")]
    assert names == [f"P->B.Mirror{part}Connector" for part in ("Source", "Checkpoint", "Heartbeat")]


@pytest.mark.parametrize(
    ("topic", "internal"),
    [
        ("Payments", False),
        ("P.Payments", False),
        ("internal", False),
        ("internals.of.a.bank", False),
        ("my-heartbeats", False),
        ("__consumer_offsets", True),
        ("mm2-offset-syncs.B.internal", True),
        ("P.checkpoints.internal", True),
        ("heartbeats", True),
        ("P.heartbeats", True),
        ("connect-offsets", True),
        ("srm-configs.P.internal", True),
        (JOURNAL_TOPIC, True),
    ],
)
def test_internal_topics_are_known(topic: str, internal: bool) -> None:
    assert is_internal(topic) is internal


def test_mirrormaker_2_never_replicates_the_journal_by_default() -> None:
    """R25: each cluster has its own copy of the journal, so a flow must not replicate one to the other."""
    assert re.fullmatch(r".*[\-\.]internal", JOURNAL_TOPIC)
