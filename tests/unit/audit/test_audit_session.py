# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The JVM's compilers depend on the number of records."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_dr_audit import session


@pytest.mark.parametrize(("records", "fast"), [(None, False), (0, True), (5_000_000, True), (5_000_001, False)])
def test_only_a_small_audit_runs_without_the_second_compiler(
    records: int | None, fast: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "archive", lambda: tmp_path / "no archive")
    monkeypatch.setattr(session, "_connector", lambda _resources, _version: {})
    settings = session._own(session.Resources(records=records), tmp_path, session.SPARK, None)
    assert ("-XX:TieredStopAtLevel=1" in settings["spark.driver.extraJavaOptions"].split()) is fast
