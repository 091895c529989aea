# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The ledger file: which lines are buffered, which survive a kill, and how the next writer handles a truncated line."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from ledger.errors import LedgerError
from ledger.store import Writer, last_announced, ledger_path, open_ledger, read_blocks, read_header


def lines_of(path: Path) -> list[bytes]:
    return [line for block in read_blocks(path) for line in block]


def test_lines_are_buffered_until_flushed(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "x.log")
    writer.add("K", 1, "T")
    assert (tmp_path / "x.log").read_bytes() == b""
    writer.flush()
    assert (tmp_path / "x.log").read_bytes() == b"K\t1\tT\n"
    writer.close()


def test_flush_if_due_bounds_the_time_a_line_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = Writer(tmp_path / "x.log")
    now = writer._flushed
    writer.add("K", 1)
    monkeypatch.setattr("ledger.store.time.monotonic", lambda: now + 0.1)
    writer.flush_if_due()
    assert (tmp_path / "x.log").read_bytes() == b""
    monkeypatch.setattr("ledger.store.time.monotonic", lambda: now + 0.25)
    writer.flush_if_due()
    assert (tmp_path / "x.log").read_bytes() == b"K\t1\n"
    writer.close()


def test_a_second_writer_of_the_same_ledger_is_refused(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "x.log")
    with pytest.raises(LedgerError, match="is open in another process"):
        Writer(tmp_path / "x.log")
    writer.close()
    Writer(tmp_path / "x.log").close()


def test_the_reader_leaves_out_an_unfinished_last_line(tmp_path: Path) -> None:
    path = tmp_path / "x.log"
    path.write_bytes(b"K\t1\nK\t2\nK\t3")
    assert lines_of(path) == [b"K\t1", b"K\t2"]


def test_the_reader_joins_lines_across_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ledger.store.BLOCK", 7)
    path = tmp_path / "x.log"
    numbers = [random.Random(1).randrange(10**9) for _line in range(50)]
    path.write_text("".join(f"K\t{number}\n" for number in numbers))
    assert lines_of(path) == [f"K\t{number}".encode() for number in numbers]


def test_the_next_writer_terminates_a_truncated_line_so_that_it_is_ignored(tmp_path: Path) -> None:
    path = tmp_path / "x.log"
    path.write_bytes(b"K\t1\nK\t2\t17")
    Writer(path).close()
    assert path.read_bytes() == b"K\t1\nK\t2\t17\t!\n"


def test_a_producer_keeps_its_identity_for_the_life_of_its_ledger(tmp_path: Path) -> None:
    writer, identity = open_ledger(tmp_path / "a.log", "producer", "pay")
    writer.close()
    again, same = open_ledger(tmp_path / "a.log", "producer", "pay")
    again.close()
    other, different = open_ledger(tmp_path / "b.log", "producer", "pay")
    other.close()
    assert identity == same != different
    assert identity.startswith("pay.")


def test_a_ledger_of_another_owner_is_refused_and_unlocked(tmp_path: Path) -> None:
    open_ledger(tmp_path / "a.log", "consumer", "fraud")[0].close()
    with pytest.raises(LedgerError, match="belongs to consumer 'fraud', not to consumer 'audit'"):
        open_ledger(tmp_path / "a.log", "consumer", "audit")
    open_ledger(tmp_path / "a.log", "consumer", "fraud")[0].close()


@pytest.mark.parametrize("content", [b"", b"H\t1\tprod", b"K\t1\n"])
def test_a_truncated_header_is_no_header(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.log").write_bytes(content)
    assert read_header(tmp_path / "a.log") is None
    assert read_header(tmp_path / "missing.log") is None


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"H\t1\tproducer\tp.x\t0\n", -1),
        (b"H\nA\t0\t9\t5\nK\t0\tT\t0\t0\t6\n", 9),
        (b"A\t0\t9\t5\nA\t10\t19\t6\nK\t10\tT\t0\t0\t6\nA\t20\t2", 19),
        (b"A\t0\t9\t5\nA\t10\t1\t!\nK\t0\tT\t0\t0\t6\n", 9),
        (b"A\t0\t9\t5\n" + b"K\t0\tTTTTTTTTTTTTTTTTTTTT\t0\t0\t6\n" * 9000, 9),
    ],
)
def test_the_highest_announced_number_is_found_from_the_end(tmp_path: Path, content: bytes, expected: int) -> None:
    (tmp_path / "a.log").write_bytes(content)
    assert last_announced(tmp_path / "a.log") == expected


def test_the_file_names_of_ledgers(tmp_path: Path) -> None:
    assert ledger_path(tmp_path, "pay").name == "ledger-pay.log"
    assert ledger_path(tmp_path, "fraud", 1).name == "ledger-fraud.1.log"
    assert ledger_path(tmp_path, "enrich", output=True).name == "ledger-enrich.out.log"
