# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The ledger file: one line per record, tab separated, append only, readable while it is written.

=====  ==================================================  =================================================
line   fields                                              meaning
=====  ==================================================  =================================================
``H``  version, role, owner, member                        first line; owner = producer identity or group
``S``  us, event, cluster alias, topics                    a start or a stop, with the topics read or written
``A``  first, last, us                                     announced: the client is about to send these numbers
``K``  seq, topic, partition, offset, us                   acknowledged (transactions: after the commit)
``F``  seq, us, reason                                     rejected by the broker or never sent
``U``  seq, us, reason                                     failed; unknown whether it was written
``X``  seq, topic, partition, offset, us                   aborted on purpose with its transaction
``P``  producer, seq, key, topic, partition, offset, us    processed
``Q``  transaction, then as P                              processed inside a transaction that is still open
``C``  transaction, us                                     that transaction was committed
``D``  transaction, us                                     that transaction was aborted
=====  ==================================================  =================================================

Times are microseconds since 1970. The next writer ends a line that a SIGKILL cut off with ``CUT``, so that readers
ignore it.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import time
from collections.abc import Iterator
from pathlib import Path

from ledger.errors import LedgerError

VERSION = "1"
CUT = b"\t!"
BLOCK = 128 << 10  # fits the CPU caches: a third faster than a megabyte
FLUSH_SECONDS = 0.2
BUFFERED_BYTES = 256 << 10


def now_us() -> int:
    """Wall clock in microseconds, to compare the ledgers of one machine."""
    return time.time_ns() // 1000


def ledger_path(folder: Path, client: str, member: int = 0, output: bool = False) -> Path:
    """``ledger-<client>[.member][.out].log``. ``out`` is the second ledger of a processor, for its output."""
    suffix = f".{member}" if member else ""
    return folder / f"ledger-{client}{suffix}{'.out' if output else ''}.log"


class Writer:
    """Appends lines to one ledger. A lock, which ends with the process, makes it the only writer."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(self._file)
            raise LedgerError(f"Ledger {path} is open in another process. Stop that client first.") from error
        self._lines: list[str] = []
        self._size = 0
        self._flushed = time.monotonic()
        if _ends_in_cut_line(self._file):
            os.write(self._file, CUT + b"\n")

    def add(self, *fields: object) -> None:
        """Buffer one line. The caller orders the writes with `flush`."""
        line = "\t".join(map(str, fields))
        self._lines.append(line)
        self._size += len(line)

    def flush(self) -> None:
        """Write the buffer to the kernel. It survives a crash of this process, but not of the machine."""
        if self._lines:
            rest = memoryview(("\n".join(self._lines) + "\n").encode())
            self._lines.clear()
            self._size = 0
            while rest:
                rest = rest[os.write(self._file, rest) :]
        self._flushed = time.monotonic()

    def flush_if_due(self) -> None:
        """Flush at intervals, to limit the lines that a kill can lose."""
        if self._size > BUFFERED_BYTES or time.monotonic() - self._flushed >= FLUSH_SECONDS:
            self.flush()

    def close(self) -> None:
        self.flush()
        os.close(self._file)


def open_ledger(path: Path, role: str, owner: str, member: int = 0) -> tuple[Writer, str]:
    """Open a ledger for appending. Returns the writer and the owner from the header.

    A new ledger adds a random part to the identity of its producer. Records of an earlier ledger of the same name,
    which may still be in the topic, then never count for this one.
    """
    writer = Writer(path)
    header = read_header(path)
    if header is None:
        identity = f"{owner}.{secrets.token_hex(3)}" if role == "producer" else owner
        writer.add("H", VERSION, role, identity, member)
        writer.flush()
        return writer, identity
    found_role, found_owner = header[2], header[3]
    name = found_owner.rsplit(".", 1)[0] if found_role == "producer" else found_owner
    if (found_role, name) != (role, owner):
        writer.close()
        raise LedgerError(
            f"Ledger {path} belongs to {found_role} {name!r}, not to {role} {owner!r}. "
            "Give the client another name or another --dir."
        )
    return writer, found_owner


def read_header(path: Path) -> list[str] | None:
    """Fields of the first line. None if the file is missing or empty, or its first line is incomplete."""
    with contextlib.suppress(FileNotFoundError), path.open("rb") as file:
        line = file.readline()
        fields = line.decode(errors="replace").rstrip("\n").split("\t")
        if line.endswith(b"\n") and len(fields) == 5 and fields[0] == "H":
            return fields
    return None


def read_blocks(path: Path) -> Iterator[list[bytes]]:
    """Complete lines in blocks of some thousands. Skips cut lines, at the end and before a restart."""
    rest = b""
    with path.open("rb", buffering=0) as file:
        while block := file.read(BLOCK):
            whole, newline, tail = block.rpartition(b"\n")
            if not newline:
                rest += block
                continue
            lines = (rest + whole).split(b"\n")
            yield [line for line in lines if not line.endswith(CUT)] if CUT in block else lines
            rest = tail


def last_announced(path: Path) -> int:
    """Highest announced sequence number, or -1. Reads from the end, so the length of the ledger does not matter."""
    size = path.stat().st_size
    span = 64 << 10
    with path.open("rb") as file:
        while True:
            start = max(0, size - span)
            file.seek(start)
            lines = file.read(size - start).split(b"\n")
            # The first line of the piece may lack its start, the last one its end.
            for line in reversed(lines[1 if start else 0 : -1]):
                if line.startswith(b"A\t") and not line.endswith(CUT):
                    return int(line.split(b"\t")[2])
            if not start:
                return -1
            span *= 4


def _ends_in_cut_line(file: int) -> bool:
    size = os.fstat(file).st_size
    return size > 0 and os.pread(file, 1, size - 1) != b"\n"
