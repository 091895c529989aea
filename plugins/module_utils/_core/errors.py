# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The exceptions of the collection: what failed, what was found, and the next step.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

__all__ = ["DrError", "LockedOut", "Unreachable", "one_text", "sentences", "with_alias"]

# Two full stops, but not an ellipsis: another program's reason ends in a full stop within a sentence of ours.
_TWO_STOPS = re.compile(r"(?<!\.)\.\.(?=\s|$)")
_SENTENCE = re.compile(r"(?<=[.!?]) (?=[A-Z\"'])")


def sentences(text: str) -> list[str]:
    """Split a text into its sentences."""
    return _SENTENCE.split(text)


def one_text(*texts: str) -> str:
    """Join texts. Each text ends as a sentence, and no sentence occurs twice."""
    distinct: dict[str, None] = {}
    for text in texts:
        whole = _TWO_STOPS.sub(".", text.strip())
        closed = f"{whole}." if whole and whole[-1] not in ".!?:" else whole
        distinct.update(dict.fromkeys(sentences(closed)))
    return " ".join(sentence for sentence in distinct if sentence)


def with_alias(text: str, endpoint: str, clusters: Mapping[str, Any]) -> str:
    """Add the cluster's alias after its address in ``text``, once. ``clusters``: by alias, as in the inventory.

    An address that clusters share, such as that of an API server, names none of them.
    """
    found = []
    for alias, cluster in clusters.items():
        known = cluster if isinstance(cluster, Mapping) else {}
        # An engine's section of a cluster has its address in `url`.
        urls = [value.get("url") for value in known.values() if isinstance(value, Mapping)]
        workers = (known.get("connect_url") or "").replace(" ", "").split(",")
        if endpoint and endpoint in (known.get("bootstrap_servers"), *workers, *urls):
            found.append(f'"{endpoint}" ({alias})')
    if len(found) != 1 or found[0] in text:
        return text
    return text.replace(f'"{endpoint}"', found[0], 1)


class DrError(Exception):
    """A failure that a user can act on.

    ``code`` is part of the API: playbooks branch on it. ``message`` and ``hint`` are prose. ``retriable``: the cause
    ends by itself, such as an election, so a bounded wait goes on until its limit (R35).
    """

    def __init__(self, code: str, message: str, hint: str = "", endpoint: str = "", *, retriable: bool = False) -> None:
        super().__init__(message)
        self.code = code
        self.message = _TWO_STOPS.sub(".", message)
        self.hint = hint
        self.endpoint = endpoint
        self.retriable = retriable

    def as_dict(self) -> dict[str, str]:
        """The fields of the value that modules return as ``error``."""
        return {"code": self.code, "message": self.message, "hint": self.hint, "endpoint": self.endpoint}

    def sentence(self) -> str:
        """Message and hint in one text, for the value ``msg``."""
        return one_text(self.message, self.hint)


class Unreachable(DrError):  # noqa: N818 - reads as what happened
    """A cluster or worker did not respond. Callers that only observe may continue with UNKNOWN."""


class LockedOut(Unreachable):
    """The server responds but rejects this client's certificate or login, so its state is unknown."""
