# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Records of megabytes and names of 249 characters: memory stays small, and files can be written."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.fingerprints import fingerprints
from ansible_collections.switchback.kafka_dr.plugins.module_utils._files import write_parts, write_whole
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.records import Record, digested
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.salvage.export import _file_name
from repository import files, nodes, read

LARGE = b"x" * 100_000
RECORD = Record(7, 1000, "CreateTime", b"k", LARGE, (("trace", LARGE), ("none", None)))
OTHERS = [
    replace(RECORD, value=LARGE[:-1]),
    replace(RECORD, value=LARGE[:-1] + b"y"),
    replace(RECORD, value=b""),
    replace(RECORD, value=None),
    replace(RECORD, key=None),
    replace(RECORD, key=LARGE),
    replace(RECORD, headers=(("trace", LARGE), ("none", b""))),
    replace(RECORD, headers=(("trace", LARGE + b"x"), ("none", None))),
    replace(RECORD, headers=None),
]


def parts(record: Record) -> list[bytes | None]:
    return [record.key, record.value, *(value for _name, value in record.headers or ())]


def test_a_digest_is_small_and_equal_for_equal_contents_only() -> None:
    kept = digested(RECORD)
    assert max(len(part or b"") for part in parts(kept)) < 100
    assert kept == digested(replace(RECORD, value=bytes(bytearray(LARGE))))
    assert [digested(other) == kept for other in OTHERS] == [False] * len(OTHERS)
    # Without readable headers the others are equal.
    (mine,), theirs = fingerprints([kept], [digested(other) for other in OTHERS[:-1]])
    assert mine not in theirs
    assert digested(kept) == kept


def test_a_short_record_is_not_changed() -> None:
    short = Record(1, 5, "CreateTime", b"k" * 72, None, (("a", b""),))
    assert digested(short) == short
    assert digested(replace(short, headers=None)).headers is None


# Twelve partitions with 32 records of 5 MiB on either cluster would be 4 GB otherwise.
BOUNDS = ("digests", "most_bytes", "last_only")


def readings() -> list[tuple[str, set[str]]]:
    """Every read of many records in _pair: where it is, and the options of its Reading."""
    found = []
    for path in files("plugins/module_utils/_pair/**/*.py"):
        if "Reading(" not in read(path):
            continue
        for node in nodes(path):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Reading":
                found.append((f"{path.name}:{node.lineno}", {str(one.arg) for one in node.keywords}))
    return found


def test_every_read_of_many_records_is_bounded_in_bytes() -> None:
    assert len(readings()) > 5
    assert [place for place, options in readings() if not options & set(BOUNDS)] == []


@pytest.mark.parametrize(("length", "partition"), [(247, 0), (247, 10), (249, 0), (249, 99_999)])
def test_the_longest_topic_can_be_exported(tmp_path: Path, length: int, partition: int) -> None:
    path = tmp_path / _file_name("x" * length, partition)
    for text in ("first", "second"):
        write_whole(path, text, 0o640)
        assert path.read_text() == text
    assert [one.name for one in tmp_path.iterdir()] == [path.name]
    assert path.name.endswith(f"-{partition}.jsonl")
    assert _file_name("x" * (length - 1) + "y", partition) != path.name


def test_a_short_name_is_that_of_the_partition() -> None:
    assert _file_name("Payments", 3) == "Payments-3.jsonl"


def test_a_tail_is_written_with_one_record_in_memory_at_a_time(tmp_path: Path) -> None:
    """A record is discarded before the next one is read. The file and its folder exist at the end only."""
    path, held = tmp_path / "salvage" / "T-0.jsonl", []

    class Part(str):
        """A part that knows when it is no longer used."""

        def __del__(self) -> None:
            held.remove(len(self))

    def parts(count: int) -> Iterator[str]:
        for number in range(1, count + 1):
            assert len(held) <= 1
            held.append(number)
            yield Part("x" * number)

    digest, changed = write_parts(path, parts(9), 0o640, True)
    assert (changed, path.parent.exists()) == (True, False)
    assert write_parts(path, parts(9), 0o640, False) == (digest, True)
    assert path.read_text() == "x" * 45
    assert digest == hashlib.sha256(path.read_bytes()).hexdigest()
    assert path.stat().st_mode & 0o777 == 0o640
    assert write_parts(path, parts(9), 0o640, False) == (digest, False)
    assert write_parts(path, parts(8), 0o640, True)[1] is True
    assert path.read_text() == "x" * 45
    assert write_parts(path, parts(8), 0o640, False)[1] is True
    assert [one.name for one in path.parent.iterdir()] == [path.name]


def test_a_tail_that_cannot_be_read_to_its_end_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "T-0.jsonl"
    write_whole(path, "old", 0o640)

    def parts() -> Iterator[str]:
        yield "new"
        raise OSError("no leader")

    with pytest.raises(OSError, match="no leader"):
        write_parts(path, parts(), 0o640, False)
    assert [(one.name, one.read_text()) for one in tmp_path.iterdir()] == [(path.name, "old")]
