# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Prove ownership of the pair immediately before each change outside this process (R31).

A module runs as one process with one owner, so the proof is a property of the process, and no client can forget to pass
it on. In a module that a user calls on its own, there is no proof, and nothing is checked.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["owned", "require_ownership"]

_proofs: list[Callable[[], None]] = []


def require_ownership() -> None:
    """Raise ``run_superseded`` if another controller has taken over the work of this process."""
    for proof in _proofs:
        proof()


@contextmanager
def owned(proof: Callable[[], None]) -> Iterator[None]:
    """Within this context, every change calls ``proof`` first."""
    _proofs.append(proof)
    try:
        yield
    finally:
        _proofs.remove(proof)
