# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options shared by several modules of a pair, documented in the fragments ``pair``, ``journal`` and ``translation``.

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
    """Return the option that describes the pair, documented in the fragment ``pair.spec``."""
    return ArgumentSpec(
        {"pair": {"type": "dict", "required": True}, "request_timeout": {"type": "float", "default": 15.0}}
    )


def pair_spec(params: Mapping[str, Any]) -> PairSpec:
    """Parse the option of ``pair_option``; raise ``bad_option``."""
    return PairSpec.of(params["pair"])


def rehearsal_option(required: bool = False) -> ArgumentSpec:
    """Return the option that names what a rehearsal of the pair creates."""
    rehearsal = {
        "clusters": {"type": "dict", "default": {}},
        "belongings": {"type": "dict", "default": {}},
        "name_parts": {"type": "list", "elements": "str", "default": []},
    }
    needed: dict[str, Any] = {"required": True} if required else {"default": {}}
    return ArgumentSpec({"rehearsal": {"type": "dict", **needed, "options": rehearsal}})


def flows_of(params: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return source and target of each flow in the option of ``flow_options``."""
    return [(flow["source"], flow["target"]) for flow in params["flows"]]


def flow_options() -> ArgumentSpec:
    """Return the option that names the flows that a module acts on."""
    flow = {"source": {"type": "str", "required": True}, "target": {"type": "str", "required": True}}
    return ArgumentSpec({"flows": {"type": "list", "elements": "dict", "required": True, "options": flow}})


def generation_options() -> ArgumentSpec:
    """Return the option that numbers the holder of a run."""
    return ArgumentSpec({"holder_generation": {"type": "int"}})


def guard_options() -> ArgumentSpec:
    """Return the option that names the run or lease of the controller; see :mod:`.journal.guard`."""
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
        # Not a secret: numbers that increase with the pair's runs.
        "token": {"type": "dict", "no_log": False},
    }
    return ArgumentSpec({"guard": {"type": "dict", "options": guard}})


def claim_of(params: Mapping[str, Any]) -> Claim | None:
    """Return the run or lease in the option ``guard``; None: it names none."""
    return Claim.of(params["guard"] or {})


def acceptance_options() -> ArgumentSpec:
    """Return the options that accept inexact offsets, documented in the fragment ``translation``."""
    return ArgumentSpec(
        {
            "group_lag": {"type": "str", "choices": ["refuse", "reread"], "default": "refuse"},
            "accept_skips": {"type": "list", "elements": "str", "default": []},
        }
    )
