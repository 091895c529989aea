# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The ledger file: one line a record, tab separated, append only, readable while it is being written.

=====  ==================================================  =================================================
line   fields                                              meaning
=====  ==================================================  =================================================
``H``  version, role, owner, member                        first line; owner = producer identity or group
``S``  us, event, cluster alias, topics                    a start or a stop, with what it reads or writes
``A``  first, last, us                                     announced: these sequence numbers are about to be sent
``K``  seq, topic, partition, offset, us                   acknowledged (transactions: after the commit)
``F``  seq, us, reason                                     refused by the broker or never sent
``U``  seq, us, reason                                     failed in a way that does not tell whether it was written
``X``  seq, topic, partition, offset, us                   aborted on purpose with its transaction
``P``  producer, seq, key, topic, partition, offset, us    processed
``Q``  transaction, then as P                              processed inside a transaction that is still open
``C``  transaction, us                                     that transaction was committed
``D``  transaction, us                                     that transaction was given up
=====  ==================================================  =================================================

Times are microseconds since 1970. A line that was cut short by a SIGKILL is ended with ``CUT`` by the next writer, so
that no reader takes it for a whole one.
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
BLOCK = 128 << 10  # small enough for the caches: a third faster than a megabyte
FLUSH_SECONDS = 0.2
BUFFERED_BYTES = 256 << 10


def now_us() -> int:
    """Wall clock in microseconds: the ledgers of one machine are compared with each other."""
    return time.time_ns() // 1000


def ledger_path(folder: Path, client: str, member: int = 0, output: bool = False) -> Path:
    """``ledger-<client>[.member][.out].log``; a processor's second ledger, of what it produced, is the ``out`` one."""
    suffix = f".{member}" if member else ""
    return folder / f"ledger-{client}{suffix}{'.out' if output else ''}.log"


class Writer:
    """Appends lines to one ledger; the only writer of that file, guarded by a lock that dies with the process."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(self._file)
            raise LedgerError(f"Ledger {path} is being written by another process; stop that client first.") from error
        self._lines: list[str] = []
        self._size = 0
        self._flushed = time.monotonic()
        if _ends_in_cut_line(self._file):
            os.write(self._file, CUT + b"\n")

    def add(self, *fields: object) -> None:
        """Buffer one line; the caller decides with `flush` what must be on its way to disk before what."""
        line = "\t".join(map(str, fields))
        self._lines.append(line)
        self._size += len(line)

    def flush(self) -> None:
        """Hand everything to the kernel: it survives the death of this process (not of the machine)."""
        if self._lines:
            rest = memoryview(("\n".join(self._lines) + "\n").encode())
            self._lines.clear()
            self._size = 0
            while rest:
                rest = rest[os.write(self._file, rest) :]
        self._flushed = time.monotonic()

    def flush_if_due(self) -> None:
        """Bound what a kill can take from the ledger."""
        if self._size > BUFFERED_BYTES or time.monotonic() - self._flushed >= FLUSH_SECONDS:
            self.flush()

    def close(self) -> None:
        self.flush()
        os.close(self._file)


def open_ledger(path: Path, role: str, owner: str, member: int = 0) -> tuple[Writer, str]:
    """Open for appending and give the owner as the header has it.

    A producer's identity gets a random part once, at the birth of its ledger: records of an earlier ledger of the same
    name, still in the topic, are then never taken for records of this one.
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
    """Fields of the first line; None where the file is missing, empty, or died before its first line was whole."""
    with contextlib.suppress(FileNotFoundError), path.open("rb") as file:
        line = file.readline()
        fields = line.decode(errors="replace").rstrip("\n").split("\t")
        if line.endswith(b"\n") and len(fields) == 5 and fields[0] == "H":
            return fields
    return None


def read_blocks(path: Path) -> Iterator[list[bytes]]:
    """Whole lines, some thousands at a time; what was cut short is left out, at the end and before a restart."""
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
    """Highest sequence number ever announced, -1 for none; reads from the end, so a long ledger costs no time."""
    size = path.stat().st_size
    span = 64 << 10
    with path.open("rb") as file:
        while True:
            start = max(0, size - span)
            file.seek(start)
            lines = file.read(size - start).split(b"\n")
            # The first piece may start in the middle of a line, the last one may end in the middle.
            for line in reversed(lines[1 if start else 0 : -1]):
                if line.startswith(b"A\t") and not line.endswith(CUT):
                    return int(line.split(b"\t")[2])
            if not start:
                return -1
            span *= 4


def _ends_in_cut_line(file: int) -> bool:
    size = os.fstat(file).st_size
    return size > 0 and os.pread(file, 1, size - 1) != b"\n"
