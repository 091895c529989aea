# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Store the highest fencing token that a host has seen for each of its applications (R31).

A host cannot read the journal. It refuses a controller that is older than the newest one that has acted on the
application here. A lock is held while an action starts.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import IO, Any

from ._core.errors import DrError
from ._core.journal.ownership import Token, refuse_older
from ._core.waiting import Bounds, wait_until

__all__ = ["Fencing", "Gate"]

Gate = Callable[[], AbstractContextManager[None]]
# A process holds the lock for milliseconds, unless it is frozen.
_LOCKED = Bounds(10.0, 0.02)


class Fencing:
    """Compares the token of a task with the stored tokens of its applications. Without a token: no comparison.

    ``guard``: the module's option of this name.
    """

    def __init__(self, guard: Mapping[str, Any]) -> None:
        token = guard.get("token") or {}
        self._token = Token(int(token["epoch"]), int(token["holder_generation"])) if token else None
        self._journal = float(token["journal"]) if token else 0.0
        self._pair = str(guard.get("pair"))
        self.warnings: list[str] = []

    def of(self, client: Mapping[str, Any]) -> Gate:
        """Return the context manager to hold while an action on this application starts."""
        if self._token is None:
            return nullcontext
        path = _place(client, self._pair)
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.touch(mode=0o600)
        except OSError as error:
            self.warnings.append(
                f"{client['name']}: the fencing token could not be stored in {path} ({error.strerror}), so this host"
                " cannot refuse an older controller. Give the user that this task becomes write access to that path."
            )
            return nullcontext
        return lambda: self._held(path)

    @contextmanager
    def _held(self, path: Path) -> Iterator[None]:
        """Lock, compare the tokens, store the newer one, and hold the lock until the action has started.

        Raises ``client_locked``, or the error of :func:`refuse_older`.
        """
        with path.open("r+") as file:
            _lock(file, path)
            self._keep(file, path)
            yield

    def _keep(self, file: IO[str], path: Path) -> None:
        text = file.read()
        stored = json.loads(text) if text else None
        if self._token is None or not refuse_older(self._token, self._journal, stored, str(path)):
            return
        file.seek(0)
        file.truncate()
        json.dump(
            {"journal": self._journal, "epoch": self._token.epoch, "holder_generation": self._token.holder_generation},
            file,
        )
        file.flush()
        os.fsync(file.fileno())


def _place(client: Mapping[str, Any], pair: str) -> Path:
    """The token file: beside the endpoint file, else in the state directory of the user that runs the command."""
    if client.get("token_file"):
        return Path(client["token_file"])
    base = os.environ.get("XDG_STATE_HOME") or Path("~/.local/state").expanduser()
    return Path(base) / "kafka-dr" / pair / f"{client['name']}.token"


def _lock(file: IO[str], path: Path) -> None:
    waited = wait_until(lambda: _try_lock(file), bool, _LOCKED)
    if not waited.done:
        raise DrError(
            "client_locked",
            f"Another process has held the lock on {path} for {waited.seconds:.0f} s. It belongs to a controller that"
            " is frozen in the middle of a command for this application.",
            f"Kill that process on this host (fuser {path} shows it), then start the same playbook again.",
        )


def _try_lock(file: IO[str]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
