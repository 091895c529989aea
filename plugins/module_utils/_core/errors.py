# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The one exception family of the collection: what was wanted, what was found, what to do next.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

__all__ = ["Busy", "DrError", "LockedOut", "Transient", "Unreachable", "one_text", "with_alias"]

# Two full stops, not an ellipsis: a reason of another program, which has its own, within a sentence of ours.
_TWO_STOPS = re.compile(r"(?<!\.)\.\.(?=\s|$)")
_SENTENCE = re.compile(r"(?<=[.!?]) (?=[A-Z\"'])")


def one_text(*texts: str) -> str:
    """Texts one after the other: each ends as a sentence does, and no sentence comes twice."""
    sentences: dict[str, None] = {}
    for text in texts:
        whole = _TWO_STOPS.sub(".", text.strip())
        closed = f"{whole}." if whole and whole[-1] not in ".!?:" else whole
        sentences.update(dict.fromkeys(_SENTENCE.split(closed)))
    return " ".join(sentence for sentence in sentences if sentence)


def with_alias(text: str, endpoint: str, clusters: Mapping[str, Any]) -> str:
    """``text`` with the alias of the cluster after its address. ``clusters``: by alias, as in the inventory."""
    for alias, cluster in clusters.items():
        known = cluster if isinstance(cluster, Mapping) else {}
        # An engine's own part of a cluster has its address under `url`.
        urls = [value.get("url") for value in known.values() if isinstance(value, Mapping)]
        if endpoint and endpoint in (known.get("bootstrap_servers"), known.get("connect_url"), *urls):
            return text.replace(f'"{endpoint}"', f'"{endpoint}" ({alias})', 1)
    return text


class DrError(Exception):
    """A failure that a user can act on.

    ``code`` is API (playbooks branch on it), ``message`` and ``hint`` are prose.
    """

    def __init__(self, code: str, message: str, hint: str = "", endpoint: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = _TWO_STOPS.sub(".", message)
        self.hint = hint
        self.endpoint = endpoint

    def as_dict(self) -> dict[str, str]:
        """The parts, as modules return them under ``error``."""
        return {"code": self.code, "message": self.message, "hint": self.hint, "endpoint": self.endpoint}

    def sentence(self) -> str:
        """Message and hint in one text, for ``msg``."""
        return one_text(self.message, self.hint)


class Unreachable(DrError):  # noqa: N818 - reads as what happened
    """A cluster or worker did not answer: callers that only want to know may go on with UNKNOWN."""


class Transient(DrError):  # noqa: N818 - reads as what it is
    """A state that passes by itself, such as an election: a bounded wait watches it until its bound (R35)."""


class Busy(Unreachable, Transient):
    """It answered that it did not get to it in time: a rebalance, a start, a request that timed out on the broker."""


class LockedOut(Unreachable):
    """It is there, and certificate or login kept this client from asking: nothing is known of its state."""
