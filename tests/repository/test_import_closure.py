# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A module only contains the code that it uses: Ansible packs every file that it can reach by imports."""

from __future__ import annotations

from import_closure import closure


def test_the_closure_includes_imports_within_functions() -> None:
    assert "module_utils/_engines/srm/engine.py" in closure("dr_flows")


def test_reading_the_journal_only_needs_kafka() -> None:
    packages = {path.split("/")[1] for path in closure("dr_journal")}
    assert {"_core", "_kafka", "_pair"} <= packages
    assert not {"_cm", "_connect", "_srm", "_engines"} & packages
