# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The recipes of docs/architecture.md name every file that must change, and no other file changes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from recipes import CollectionCopy, steps
from repository import ROOT, require_none

MODULE_UTILS = "plugins/module_utils"
TOY = ROOT / "tests" / "unit" / "engines" / "third" / "toy"
IMPORTS = "ansible_collections.switchback.kafka_dr.plugins.module_utils"
OPEN_THE_TOY = f"""
import json
from importlib import import_module
from import_closure import closure
from {IMPORTS}._core.flows.pair_spec import PairSpec
from {IMPORTS}._core.inventory.layout import laid_out
from {IMPORTS}._core.inventory.pair import derive_pair
from {IMPORTS}._engines.opening import open_engine, packed

clusters = {{alias: {{"bootstrap_servers": alias + ":9092"}} for alias in ("P", "B")}}
given = {{"engine": "toy", "home": "P", "clusters": clusters, "topics": [{{"name": "T", "partitions": 1}}]}}
pair = laid_out(derive_pair({{**given, "toy": {{"P": {{"world": "w"}}, "B": {{"world": "w"}}}}}}))
spec = PairSpec.of(pair["spec"])
toy = import_module("{IMPORTS}._engines.toy.engine")
toy.WORLDS["w"] = toy.World({{}})
opened = open_engine(spec.connections, spec.naming, {{}}, 1.0)
names = [module.__name__.split(".")[-2] for module in packed()]
print(json.dumps([type(opened).__name__, names, sorted(name for name in closure("dr_flows") if "/toy/" in name)]))
"""
JUDGE_WITHOUT_CLUSTERS = f"""
import json
from types import SimpleNamespace as Stub
from {IMPORTS}._core.checks.facts import Limits, judge_readiness
from {IMPORTS}._core.checks.other_applications import OtherApplications
from {IMPORTS}._core.checks.readiness import CHECKS
from {IMPORTS}._core.flows.pair_spec import PairSpec
from {IMPORTS}._pair.readiness import workflow
from {IMPORTS}._pair.readiness.parts import Parts

spec = PairSpec.of({{"clusters": {{"P": {{}}, "B": {{}}}}, "topics": ["T"], "home": "P"}})
others = {{"other_applications": OtherApplications(), "wait_for_applications": 0.0}}
request = Stub(pair=spec, to="", limits=Limits(), unreachable=[], local_groups=[], **others)
engine = Stub(capabilities=Stub(versions_retained_by="", settings_known_by=""))
clusters = Stub(
    kafka={{}},
    unreachable={{"P": "no broker responds", "B": "no broker responds"}},
    workers=lambda ends: ({{}}, {{}}),
    other=lambda alias: "B" if alias == "P" else "P",
    opened=Stub(engine=engine),
)
facts = workflow._facts(request, clusters, Parts(), None, [], [])
rows = judge_readiness(facts, CHECKS)["checks"]
print(json.dumps([[row["name"], row["answer"], row["found"]] for row in rows]))
"""


def test_an_engine_needs_its_two_folders_and_one_line(tmp_path: Path) -> None:
    collection = CollectionCopy(tmp_path, "An engine")
    for number, part in ((1, "inventory"), (2, "engine")):
        place = collection.place(number, NAME="toy")
        place.mkdir()
        for name in ("__init__.py", f"{part}.py"):
            shutil.copy(TOY / name, place / name)
    opening = collection.place(3)
    before = collection.run(OPEN_THE_TOY)
    # Without the third step it works on this host only.
    assert json.loads(before) == ["ToyEngine", ["aiven", "connect", "srm", "strimzi"], []]
    collection.insert(opening, "    from .srm import engine as srm\n", "    from .toy import engine as toy\n")
    collection.insert(opening, "    return aiven, connect, srm, strimzi", ", toy")
    name, packed, files = json.loads(collection.run(OPEN_THE_TOY))
    assert (name, packed) == ("ToyEngine", ["aiven", "connect", "srm", "strimzi", "toy"])
    assert "module_utils/_engines/toy/engine.py" in files
    assert collection.changed() == [
        *(f"{MODULE_UTILS}/_core/engines/toy/{name}.py" for name in ("__init__", "inventory")),
        f"{MODULE_UTILS}/_engines/opening.py",
        *(f"{MODULE_UTILS}/_engines/toy/{name}.py" for name in ("__init__", "engine")),
    ]


def test_a_readiness_check_needs_a_fact_a_row_and_its_observation(tmp_path: Path) -> None:
    collection = CollectionCopy(tmp_path, "A readiness check")
    facts, checks, observation = (collection.place(number) for number in (1, 2, 3))
    first = json.loads(collection.run(JUDGE_WITHOUT_CLUSTERS))
    collection.insert(facts, "    limits: Limits = field(default_factory=Limits)\n", "    moon: str | None = None\n")
    collection.insert(
        checks,
        "\nCHECKS = (\n",
        '    Check("moon", "Is the moon full?", lambda facts: _yes(facts.moon or "unknown"), "Wait."),\n',
    )
    collection.insert(observation / "workflow.py", "    return Facts(\n", '        moon="it is",\n')
    assert json.loads(collection.run(JUDGE_WITHOUT_CLUSTERS)) == [["moon", "YES", "it is"], *first]
    assert collection.changed() == [
        f"{MODULE_UTILS}/_core/checks/facts.py",
        f"{MODULE_UTILS}/_core/checks/readiness.py",
        f"{MODULE_UTILS}/_pair/readiness/workflow.py",
    ]


def test_each_file_that_a_recipe_names_exists() -> None:
    folders = (ROOT, ROOT / MODULE_UTILS, ROOT / "plugins")
    for recipe in ("A module", "An engine", "A readiness check", "A way to control applications", "A phase"):
        names = [name for step in steps(recipe) for name in step if "/" in name and "NAME" not in name]
        require_none(f"{recipe}: {name}" for name in names if not any((folder / name).exists() for folder in folders))
