# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Versions as workers of different vendors report them."""

from __future__ import annotations

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.kafka_versions import kafka_version, too_old


@pytest.mark.parametrize(
    ("reported", "version"),
    [
        ("4.3.1", (4, 3)),
        ("3.10.0-SNAPSHOT", (3, 10)),
        ("3.4.1.7.1.9.0-387", (3, 4)),
        ("3.7.0.redhat-00007", (3, 7)),
        ("7.6.1-ccs", (3, 6)),
        ("7.7.0-ce", (3, 7)),
        ("8.0.0-ccs", (4, 0)),
        ("unknown", None),
        ("", None),
    ],
)
def test_the_version_of_apache_kafka_is_found(reported: str, version: tuple[int, int] | None) -> None:
    assert kafka_version(reported) == version


@pytest.mark.parametrize(
    ("reported", "old"),
    [("2.8.2", True), ("3.6.2", True), ("3.7.0", False), ("3.10.0", False), ("7.6.1-ccs", True), ("7.7.0-ccs", False)],
)
def test_workers_before_3_7_are_too_old(reported: str, old: bool) -> None:
    assert too_old(reported) is old


def test_an_unknown_version_is_not_too_old() -> None:
    assert not too_old("unknown")
