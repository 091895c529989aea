# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each replication policy is one class, and no other code asks which policy a pair has."""

from __future__ import annotations

import re

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import DrError
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.names import POLICIES, Naming, naming_of
from repository import ROOT, name, product, read, require_none

NAMES = ROOT / "plugins" / "module_utils" / "_core" / "names.py"


def test_each_class_is_found_by_the_name_of_its_policy() -> None:
    assert list(POLICIES) == ["default", "identity"]
    assert {type(naming_of(name)).policy for name in POLICIES} == set(POLICIES)
    assert naming_of().policy == "default"


@pytest.mark.parametrize("name", POLICIES)
def test_each_policy_answers_every_question(name: str) -> None:
    assert set(Naming.__annotations__) - set(dir(naming_of(name, "."))) == set()


def test_an_unknown_policy_is_refused() -> None:
    with pytest.raises(DrError) as refused:
        naming_of("identiy")
    assert (refused.value.code, refused.value.message) == (
        "bad_option",
        'The policy is "identiy", wanted one of default, identity.',
    )


def test_no_code_outside_the_classes_asks_which_policy_a_pair_has() -> None:
    names = "|".join(POLICIES)
    asks = re.compile(
        rf"""policy["']?\]?\s*[!=]=\s*["']|["']({names})["']\s*[!=]=|isinstance\([^)]*(Prefixed|Identity)Naming"""
        rf"""|policy["']?\]?\s+(not\s+)?in\s*[(\[{{]["']"""
    )
    for text in (
        'if pair["policy"] == "identity":',
        "when: kafka_dr_pair.policy != 'default'",
        'self._identity = pair.naming.policy == "identity"',
        'policy in ("identity",)',
    ):
        assert asks.search(text)
    # The lab is not a part of the product.
    checked = [path for path in product() if "lab" not in path.relative_to(ROOT).parts]
    assert NAMES in checked
    require_none(name(path) for path in checked if asks.search(read(path)))
