# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options that several modules of a pair share; documented in the fragments ``pair``, ``journal`` and ``translation``.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._core.flows.pair_spec import PairSpec
from .._core.journal.ownership import Claim
from .._core.names import JOURNAL_TOPIC, STATE_TOPIC
from .._module import ArgumentSpec

__all__ = [
    "acceptance_options",
    "claim_of",
    "flow_options",
    "flows_of",
    "generation_options",
    "guard_options",
    "pair_option",
    "pair_spec",
    "rehearsal_option",
]


def pair_option() -> ArgumentSpec:
    """The pair as one option; documented in the fragment ``pair.spec``."""
    return ArgumentSpec(
        {"pair": {"type": "dict", "required": True}, "request_timeout": {"type": "float", "default": 15.0}}
    )


def pair_spec(params: Mapping[str, Any]) -> PairSpec:
    """The pair that ``pair_option`` takes; raises ``bad_option``."""
    return PairSpec.of(params["pair"])


def rehearsal_option(required: bool = False) -> ArgumentSpec:
    """What a rehearsal of the pair creates."""
    rehearsal = {
        "clusters": {"type": "dict", "default": {}},
        "belongings": {"type": "dict", "default": {}},
        "name_parts": {"type": "list", "elements": "str", "default": []},
    }
    needed: dict[str, Any] = {"required": True} if required else {"default": {}}
    return ArgumentSpec({"rehearsal": {"type": "dict", **needed, "options": rehearsal}})


def flows_of(params: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Source and target of each flow that ``flow_options`` takes."""
    return [(flow["source"], flow["target"]) for flow in params["flows"]]


def flow_options() -> ArgumentSpec:
    """The flows that a module is about."""
    flow = {"source": {"type": "str", "required": True}, "target": {"type": "str", "required": True}}
    return ArgumentSpec({"flows": {"type": "list", "elements": "dict", "required": True, "options": flow}})


def generation_options() -> ArgumentSpec:
    """Which holder of a run writes."""
    return ArgumentSpec({"holder_generation": {"type": "int"}})


def guard_options() -> ArgumentSpec:
    """What the controller holds whose task this is; see :mod:`.guard`."""
    guard = {
        "clusters": {"type": "dict", "default": {}},
        "pair": {"type": "str"},
        "topic": {"type": "str", "default": JOURNAL_TOPIC},
        "state_topic": {"type": "str", "default": STATE_TOPIC},
        "run": {"type": "str"},
        "holder_generation": {"type": "int"},
        "lease": {"type": "str"},
        "after_end": {"type": "bool", "default": False},
        "any_side": {"type": "bool", "default": False},
        # Not a secret: a number that grows with the pair's runs.
        "token": {"type": "dict", "no_log": False},
    }
    return ArgumentSpec({"guard": {"type": "dict", "options": guard}})


def claim_of(params: Mapping[str, Any]) -> Claim | None:
    """The run or lease that the option ``guard`` names."""
    return Claim.of(params["guard"] or {})


def acceptance_options() -> ArgumentSpec:
    """Which inexact offsets are accepted; documented in the fragment ``translation``."""
    return ArgumentSpec(
        {
            "group_lag": {"type": "str", "choices": ["refuse", "reread"], "default": "refuse"},
            "accept_skips": {"type": "list", "elements": "str", "default": []},
        }
    )
