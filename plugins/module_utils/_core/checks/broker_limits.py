# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compare the limits of brokers that refuse a client on one cluster and accept it on the other.

A client meets such a limit when it starts, after the applications have stopped, and no topic has it.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["LIMITS", "stricter"]

# Setting -> 1 if a higher value accepts more clients, -1 if a lower one does. A broker reads them when it starts.
_ACCEPTS_MORE = {
    # INVALID_TRANSACTION_TIMEOUT (TransactionCoordinator.handleInitProducerId).
    "transaction.max.timeout.ms": 1,
    # INVALID_SESSION_TIMEOUT (GroupCoordinatorService.joinGroup).
    "group.max.session.timeout.ms": 1,
    "group.min.session.timeout.ms": -1,
    # GROUP_MAX_SIZE_REACHED (GroupMetadataManager).
    "group.max.size": 1,
    # OFFSET_METADATA_TOO_LARGE (OffsetMetadataManager).
    "offset.metadata.max.bytes": 1,
}
#: The settings that are compared.
LIMITS = tuple(_ACCEPTS_MORE)
# By broker id, its settings.
Brokers = Mapping[int, Mapping[str, str]]


def stricter(here: Brokers, there: Brokers, x: str, y: str) -> tuple[list[str], list[str]]:
    """Return the limits of a broker ``there`` that are stricter than that of one ``here``, and unknown ones, in words.

    Coordinators move between brokers, so a client may meet each of them. ``x``, ``y``: aliases of ``here``, ``there``.
    """
    texts, unknown = [], []
    for name, sign in _ACCEPTS_MORE.items():
        mine, theirs = _values(here, name), _values(there, name)
        for alias, values, brokers in ((x, mine, here), (y, theirs, there)):
            if len(values) < len(brokers):
                unknown.append(f"{name} of a broker of {alias} is unknown")
        if not mine or not theirs:
            continue
        most = max(mine, key=lambda one: sign * one[0])
        least = min(theirs, key=lambda one: sign * one[0])
        if sign * least[0] < sign * most[0]:
            texts.append(f"{name} is {most[0]} on {x} (broker {most[1]}) and {least[0]} on {y} (broker {least[1]})")
    return texts, unknown


def _values(brokers: Brokers, name: str) -> list[tuple[int, int]]:
    """The known values, each with its broker."""
    return [(int(settings[name]), broker) for broker, settings in sorted(brokers.items()) if name in settings]
