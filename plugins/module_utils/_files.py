# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write files atomically, and check that required files exist.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import hashlib
import io
import os
import socket
import tarfile
import tempfile
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

from ._core.errors import DrError

__all__ = ["is_as_wanted", "require_file", "write_archive", "write_parts", "write_whole"]


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


def write_whole(path: Path, content: str, mode: int, *, keep_owner: bool = True, durable: bool = True) -> None:
    """Write a file atomically: a reader sees either the old or the new content.

    ``keep_owner``: the file keeps its owner and group, which only its owner and root can do. ``durable``: it also
    survives a loss of power.
    """
    _put(path, _written(path, [content.encode()], durable)[0], mode, keep_owner)


def write_archive(path: Path, texts: Mapping[str, str], mode: int) -> None:
    """Write a ``tar.gz`` of texts by name atomically. Unpacked files are readable only by their owner."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name, text in sorted(texts.items()):
            content = text.encode("utf-8", "replace")
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode, entry.mtime = len(content), 0o600, int(time.time())
            archive.addfile(entry, io.BytesIO(content))
    _put(path, _written(path, [packed.getvalue()])[0], mode)


def write_parts(path: Path, parts: Iterable[str], mode: int, check: bool) -> tuple[str, bool]:
    """Write a file like ``write_whole``, with one part in memory at a time, unless it has this content.

    Return the SHA-256 of the content, and whether the file was changed. ``check``: would be changed.
    """
    data = (part.encode() for part in parts)
    if check:
        digest = _sha256(data)
        return digest, digest != _digest_of(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary, digest = _written(path, data)
    if digest == _digest_of(path):
        temporary.unlink()
        return digest, False
    _put(path, temporary, mode)
    return digest, True


def _sha256(parts: Iterable[bytes]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return digest.hexdigest()


def _digest_of(path: Path) -> str | None:
    """The SHA-256 of a file; None if it cannot be read."""
    try:
        with path.open("rb") as file:
            return _sha256(iter(lambda: file.read(1 << 20), b""))
    except OSError:
        return None


def _written(path: Path, parts: Iterable[bytes], durable: bool = True) -> tuple[Path, str]:
    """Write a temporary file beside ``path``, and return it with its SHA-256."""
    digest = hashlib.sha256()
    # A file name may have 255 bytes, and the temporary one is longer.
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:40]}.")
    try:
        with os.fdopen(handle, "wb") as file:
            for part in parts:
                digest.update(part)
                file.write(part)
            file.flush()
            if durable:
                os.fsync(file.fileno())
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    return Path(temporary), digest.hexdigest()


def _put(path: Path, temporary: Path, mode: int, keep_owner: bool = True) -> None:
    """Let ``temporary`` take the place of ``path``."""
    try:
        if keep_owner and path.exists():
            os.chown(temporary, path.stat().st_uid, path.stat().st_gid)
        os.chmod(temporary, mode)  # noqa: PTH101 - beside chown, the same object
        os.replace(temporary, path)  # noqa: PTH105
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
