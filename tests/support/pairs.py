# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Build the option ``pair`` of modules from separate test parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.flows.pair_spec import DEFAULTS

__all__ = ["as_pair", "of_journal"]

# Test parameter -> key of the option ``pair``.
PARTS = {"name": "pair", "journal_topic": "topic"}


def as_pair(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``params`` with everything that describes the pair moved into the option ``pair``."""
    keys = {key: PARTS.get(key, key) for key in (*DEFAULTS, "clusters", "topics")}
    pair = {key: params[option] for key, option in keys.items() if option in params}
    return {**{key: value for key, value in params.items() if key not in keys.values()}, "pair": pair}


def of_journal(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of ``dr_journal``, which reads nothing from the topics of the pair."""
    return as_pair({"topics": ["T"], **params})
