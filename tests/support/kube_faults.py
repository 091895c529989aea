# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Faults of the Kubernetes part of a lab, and their repair."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from dataclasses import dataclass

from kube_lab import KubeLab

ALIASES = ("P", "B")


@dataclass(frozen=True)
class KubeFault:
    """Something that happens to the operators of both clusters or to the API server."""

    begin: Callable[[KubeLab], None]
    end: Callable[[KubeLab], None]

    def strike(self, place: KubeLab, lasts: float | None = None) -> None:
        """Begin now, and end after ``lasts`` seconds. None: the caller ends it."""
        self.begin(place)
        if lasts is not None:
            timer = threading.Timer(lasts, self.end, [place])
            timer.daemon = True
            timer.start()


def _pause(place: KubeLab) -> None:
    for alias in ALIASES:
        place.pause(alias)


def _resume(place: KubeLab) -> None:
    for alias in ALIASES:
        place.resume(alias)


def restart(place: KubeLab) -> None:
    """Start the operators again, without a delay."""
    for alias in ALIASES:
        place.restart(alias)


def late(seconds: float) -> KubeFault:
    """Each reconciliation begins that late."""

    def begin(place: KubeLab) -> None:
        for alias in ALIASES:
            place.restart(alias, delay=seconds)

    return KubeFault(begin, restart)


def _freeze(place: KubeLab) -> None:
    place.server.server.process.send_signal(signal.SIGSTOP)


def _thaw(place: KubeLab) -> None:
    place.server.server.process.send_signal(signal.SIGCONT)


PAUSED = KubeFault(_pause, _resume)
RESTARTED = KubeFault(restart, lambda _place: None)
# The API server refuses connections.
AWAY = KubeFault(lambda place: place.server.server.stop(), lambda place: place.server.server.start())
# It accepts connections, but does not answer.
FROZEN = KubeFault(_freeze, _thaw)
