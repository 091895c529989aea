# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Mutants that do what the code does, each with the reason."""

from __future__ import annotations

__all__ = ["EQUIVALENTS"]

_READ = "it changes how much is read around an offset by one record or offset-sync, and any part of the logs is safe"
_BEGINS = "both windows begin at or after the first offset that the flow could replicate"

#: By file below ``plugins/module_utils`` and function: the change, and why no caller can observe it.
EQUIVALENTS: dict[tuple[str, str], dict[str, str]] = {
    ("_core/checks/history.py", ""): {
        "KEPT = 400 -> KEPT = 401": "any number of observations of about four days serves",
    },
    ("_core/checks/readiness.py", "_retained"): {
        "state is not None and journal -> journal": "without the journal topic, the function has returned before",
    },
    ("_core/offsets/disaster.py", "predicted_loss"): {
        "committed.get(key, 0) -> committed.get(key, 1)": "the last source offset is at least 0, so both give 0",
    },
    ("_core/offsets/missing_copies.py", "MissingCopies.lowered_reverse"): {
        "for index in self._source.places[content] if index >= self._first"
        " -> for index in self._source.places[content]": _BEGINS,
    },
    ("_core/offsets/spans.py", "_around"): {
        "bisect_right(downstreams, min(place - width, floor)) - 1"
        " -> bisect_right(downstreams, min(place - width, floor)) - 2": _READ,
        "top - 1 -> top - 2": _READ,
    },
    ("_core/offsets/spans.py", "span_forward"): {
        "commit - 1 -> commit - 2": _READ,
    },
    ("_core/offsets/spans.py", "span_skips"): {
        "source[1] - low > 2 * _COUNTED -> source[1] - low > 2 * _COUNTED + 1": _READ,
    },
    ("_core/offsets/translation.py", "Copy"): {
        "timed: bool = True -> timed: bool = False": "only tests leave it out, and it only adds a hazard to a row",
    },
    ("_core/offsets/translation.py", "_counted"): {
        "0 if copy.tail_read else copy.replica_end - replica.end -> copy.replica_end - replica.end": (
            "a part that was read to the end of the replica ends there, so the difference is 0"
        ),
    },
    ("_core/offsets/translation.py", "_is_next"): {
        "max(source.begin, copy.first) -> source.begin": _BEGINS,
        "len(source.places[fingerprint]) == 1 and (not replica.holds(fingerprint, 0, split))"
        " -> not replica.holds(fingerprint, 0, split)": (
            "if no copy of a content is below the offset, that is so for each of several equal records as well"
        ),
    },
    ("_core/offsets/translation.py", "_reverse"): {
        "max((claim.offset for claim in claims), default=copy.first)"
        " -> min((claim.offset for claim in claims), default=copy.first)": (
            "it counts only if no claim reaches the log start, and the claim from content always does"
        ),
    },
    ("_core/offsets/unreplicated.py", "placed"): {
        "least and held -> held": "without records that follow, the replica has none of them",
    },
    ("_pair/offsets/prefixed_offsets.py", "PrefixedOffsets._may_lack_copies"): {
        "start < end -> start <= end": "in an empty log, no record lacks a copy",
    },
}
