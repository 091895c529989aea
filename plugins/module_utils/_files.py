# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write files atomically, and check that required files exist.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import io
import os
import socket
import tarfile
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from ._core.errors import DrError

__all__ = ["is_as_wanted", "require_file", "write_archive", "write_whole"]


def require_file(name: str, path: str, owner: str) -> None:
    """Raise ``client_file_missing`` unless ``path`` is a readable file or folder.

    ``name``: the property that holds the path. ``owner``: whose property it is, for the message. Without this check,
    the client's own error would look like the response of a broker or a worker.
    """
    file = Path(path)
    try:
        file.open("rb").close()
        return
    except IsADirectoryError:
        return
    except FileNotFoundError:
        why = "does not exist"
    except OSError as error:
        why = f"cannot be read: {error.strerror}"
    raise DrError(
        "client_file_missing",
        f'{name} of {owner} is "{file.absolute()}": that file {why} on this controller ({socket.gethostname()}).',
        f"Put the file there, or correct {name}. The files of clients must be on the host that runs the playbook.",
    )


def is_as_wanted(path: Path, content: str, mode: int) -> bool:
    """Return whether ``path`` exists with this content and these permission bits."""
    return path.exists() and path.read_text(errors="replace") == content and path.stat().st_mode & 0o7777 == mode


def write_whole(path: Path, content: str, mode: int) -> None:
    """Write a file atomically: a reader sees either the old or the new content. Keeps owner and group."""
    _write(path, content.encode(), mode)


def write_archive(path: Path, texts: Mapping[str, str], mode: int) -> None:
    """Write a ``tar.gz`` of texts by name atomically. Unpacked files are readable only by their owner."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name, text in sorted(texts.items()):
            content = text.encode("utf-8", "replace")
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode, entry.mtime = len(content), 0o600, int(time.time())
            archive.addfile(entry, io.BytesIO(content))
    _write(path, packed.getvalue(), mode)


def _write(path: Path, content: bytes, mode: int) -> None:
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            os.chown(temporary, path.stat().st_uid, path.stat().st_gid)
        os.chmod(temporary, mode)  # noqa: PTH101 - beside chown, the same object
        os.replace(temporary, path)  # noqa: PTH105
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
