# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Engines are found by their folder, and nothing outside of it asks which one a pair has."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._engines.base import Engine
from ansible_collections.switchback.kafka_dr.plugins.module_utils._engines.finding import engines
from ansible_collections.switchback.kafka_dr.plugins.module_utils._engines.opening import packed

ROOT = Path(__file__).resolve().parents[2]
PAIR = ROOT / "plugins" / "module_utils" / "_pair"


def test_each_folder_is_an_engine_and_is_packed_for_other_hosts() -> None:
    assert engines() == ("connect", "srm")
    assert tuple(module.__name__.split(".")[-2] for module in packed()) == engines()


@pytest.mark.parametrize("name", engines())
def test_each_engine_has_every_method_of_the_contract(name: str) -> None:
    module = next(one for one in packed() if one.__name__.split(".")[-2] == name)
    made = getattr(module, f"{name.title()}Engine")
    wanted = {method for method in vars(Engine) if not method.startswith("_")} | set(Engine.__annotations__)
    # `application` of the engine connect is set when it is made.
    assert wanted - set(dir(made)) - {"application"} == set()


def test_no_procedure_asks_which_engine_a_pair_has() -> None:
    asks = re.compile(r"isinstance\([^)]*Engine\)|(Connect|Srm)Engine|engine *[!=]= *[\"']|_engines\.(connect|srm)")
    files = sorted(PAIR.rglob("*.py"))
    assert files
    assert [path.name for path in files if asks.search(path.read_text())] == []
