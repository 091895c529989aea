# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Engines are found by their folders, and no other code asks which engine a pair has."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.engines.finding import engines
from ansible_collections.switchback.kafka_dr.plugins.module_utils._engines.base import Engine
from ansible_collections.switchback.kafka_dr.plugins.module_utils._engines.opening import packed
from repository import ROOT, name, product, read, require_none

PAIR = ROOT / "plugins" / "module_utils" / "_pair"


def test_each_folder_is_an_engine_and_is_packed_for_other_hosts() -> None:
    assert engines() == ("aiven", "connect", "srm", "strimzi")
    assert tuple(module.__name__.split(".")[-2] for module in packed()) == engines()


@pytest.mark.parametrize("name", engines())
def test_each_engine_has_every_method_of_the_contract(name: str) -> None:
    module = next(one for one in packed() if one.__name__.split(".")[-2] == name)
    made = getattr(module, f"{name.title()}Engine")
    wanted = {method for method in vars(Engine) if not method.startswith("_")} | set(Engine.__annotations__)
    # `application` of the engine connect is set when the engine is created.
    assert wanted - set(dir(made)) - {"application"} == set()


def own_file(path: Path) -> bool:
    """Return whether the file belongs to one engine outside its folder: task files and filters
    that its ``steps`` use.
    """
    return any(path.name in (f"{name}.py", f"{name}.yml") or f"engine_{name}_" in path.name for name in engines())


def test_no_code_outside_the_engines_asks_which_engine_a_pair_has() -> None:
    names = "|".join(engines())
    asks = re.compile(
        rf"""isinstance\([^)]*Engine\)|(Aiven|Connect|Srm|Strimzi)Engine|engines\.({names})\b"""
        rf"""|engine\S*\s*[!=]=|engine\S*\s+(not\s+)?in\s*[(\[{{]"""
        rf"""|\.get\(["']({names})["']|\[["']({names})["']\]|kafka_dr_pair\.({names})\b"""
    )
    for text in ('if pair["engine"] == "srm":', "when: kafka_dr_pair.engine == 'srm'", 'cluster.get("srm")'):
        assert asks.search(text)
    utils = ROOT / "plugins" / "module_utils"
    exempt = (utils / "_engines", utils / "_core" / "engines", ROOT / "roles" / "lab")
    checked = [path for path in product() if not own_file(path) and not any(map(path.is_relative_to, exempt))]
    assert PAIR / "options.py" in checked
    require_none(name(path) for path in checked if asks.search(read(path)))
