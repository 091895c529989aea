# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The pure functions of the clients: their configuration, their pace, and the content of a record."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ledger.consumer import Received, consumer_config, write_processed
from ledger.definition import define, read_definition
from ledger.endpoint import Endpoint, parse_endpoint, read_endpoint
from ledger.errors import LedgerError
from ledger.pace import Pace
from ledger.process import find_process, this_process
from ledger.record import FOREIGN, ODD_HEADERS, SHAPES, content_of, identity_of, key_of, topic_of, value_of
from ledger.store import Writer
from ledger.transactional import is_aborted

PLAIN: dict[str, Any] = {"role": "producer", "endpoint_file": "e.env"}


def test_an_endpoint_file_is_read_completely() -> None:
    text = """# rendered
KAFKA_BOOTSTRAP_SERVERS=127.0.0.1:19092
KAFKA_ALIAS=P
KAFKA_TOPICS=Payments
KAFKA_SUBSCRIBE=Payments,B.Payments
KAFKA_CLIENT_CONFIG='{"security.protocol": "SASL_SSL", "sasl.password": "a=b"}'
OTHER=it's not for this program
"""
    assert parse_endpoint(text) == Endpoint(
        "127.0.0.1:19092",
        "P",
        ("Payments",),
        ("Payments", "B.Payments"),
        {"security.protocol": "SASL_SSL", "sasl.password": "a=b"},
    )


def test_without_a_subscription_a_client_reads_its_topics() -> None:
    assert parse_endpoint("KAFKA_BOOTSTRAP_SERVERS=x:1\nKAFKA_TOPICS=A,B").subscribe == ("A", "B")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("KAFKA_TOPICS=A", "no KAFKA_BOOTSTRAP_SERVERS"),
        ("nonsense", "wanted KEY=VALUE"),
        ("KAFKA_BOOTSTRAP_SERVERS=x:1\nKAFKA_CLIENT_CONFIG={", "is not JSON"),
        ("KAFKA_BOOTSTRAP_SERVERS=x:1\nKAFKA_CLIENT_CONFIG=[1]", "wanted an object"),
        ("KAFKA_BOOTSTRAP_SERVERS='x:1", "line 1: the value is not quoted as in a shell"),
        ("KAFKA_BOOTSTRAP_SERVERS=x:1, y:1", "line 1: found 2 words, wanted one"),
    ],
)
def test_a_bad_endpoint_file_is_explained(text: str, message: str) -> None:
    with pytest.raises(LedgerError, match=message):
        parse_endpoint(text)


def test_a_missing_endpoint_file_is_explained(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="Render it first"):
        read_endpoint(tmp_path / "none.env")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"role": "producer"}, "'endpoint_file' is missing"),
        ({**PLAIN, "rat": 5}, "unknown key 'rat', did you mean 'rate'"),
        ({**PLAIN, "role": "writer"}, "role is 'writer'"),
        ({**PLAIN, "rate": 0}, "rate is 0"),
        ({**PLAIN, "abort_share": 2}, "abort_share is 2"),
        ({**PLAIN, "shapes": ["plain", "round"]}, "shapes is"),
        ({**PLAIN, "shapes": []}, "shapes is"),
        ({**PLAIN, "commit_ms": 501}, "commit_ms is 501"),
        ({**PLAIN, "role": "processor", "members": 2}, "members of a processor is 2"),
    ],
)
def test_a_bad_definition_is_explained(options: dict[str, Any], message: str) -> None:
    with pytest.raises(LedgerError, match=message):
        define("pay", options)


def test_a_name_that_would_collide_with_a_members_file_is_refused() -> None:
    with pytest.raises(LedgerError, match="letters, digits"):
        define("pay.1", PLAIN)


def test_an_undefined_client_is_reported_with_the_defined_ones(tmp_path: Path) -> None:
    (tmp_path / "clients.json").write_text(json.dumps({"clients": {"pay": PLAIN}}))
    assert read_definition(tmp_path, "pay").rate == 1000
    with pytest.raises(LedgerError, match=r"'pays' is not in .*, which has pay"):
        read_definition(tmp_path, "pays")


def test_records_are_due_at_a_steady_pace() -> None:
    pace = Pace(640, start=10.0)
    assert [pace.due(10.0 + tick / 64, 10**6) for tick in range(5)] == [0, 10, 10, 10, 10]


def test_after_a_stall_only_half_a_second_is_caught_up() -> None:
    pace = Pace(1000, start=0.0)
    assert pace.due(60.0, 10**6) == 500
    assert pace.due(60.01, 10**6) == 10


def test_without_free_capacity_no_record_is_due() -> None:
    pace = Pace(1000, start=0.0)
    assert pace.due(0.1, 30) == 30
    assert pace.due(0.1, -5) == 0
    assert pace.due(0.1, 100) == 70


def test_a_slow_rate_sends_its_first_record_in_time() -> None:
    pace = Pace(0.5, start=0.0)
    assert [pace.due(float(second), 9) for second in range(5)] == [0, 0, 1, 0, 1]


def test_a_record_has_its_identity_and_its_size() -> None:
    value = value_of("pay.a1b2c3", 42, 200, "in.ffffff:7")
    assert len(value) == 200
    assert identity_of(value) == ("pay.a1b2c3", 42)


def test_every_key_gets_every_shape_and_every_record_keeps_its_identity() -> None:
    form = define("pay", {**PLAIN, "keys": 5, "shapes": list(SHAPES), "headers": True}).form
    sent = [content_of("pay.a1b2c3", seq, form) for seq in range(40)]
    assert [identity_of(one.value, one.headers) for one in sent] == [("pay.a1b2c3", seq) for seq in range(40)]
    for number in range(5):
        shapes = {(one.key is not None, one.value is not None) for one in sent[number::5]}
        assert shapes == set(SHAPES.values())
    assert all(one.headers[: len(ODD_HEADERS)] == ODD_HEADERS for one in sent)


def test_by_default_a_record_has_a_key_a_value_and_no_headers() -> None:
    sent = content_of("pay.a1b2c3", 7, define("pay", PLAIN).form)
    assert (sent.key, len(sent.value or b""), sent.headers) == (b"k7", 200, [])


@pytest.mark.parametrize("lost", [[], [("ledger", None)], [("ledger", b"")], [("Ledger", b"pay.a1b2c3|1||")]])
def test_a_record_without_a_value_and_without_its_header_is_foreign(lost: list[tuple[str, bytes | None]]) -> None:
    """A flow that loses a header is not taken for a replicated record."""
    assert identity_of(None, lost) == FOREIGN


def test_an_empty_value_is_not_a_null() -> None:
    """A flow that writes an empty value for a null loses the record."""
    assert identity_of(b"", [("ledger", b"pay.a1b2c3|1||")]) == FOREIGN


def test_static_members_have_ids_of_their_own() -> None:
    endpoint = Endpoint("x:1", "P", ("A",), ("A",))
    static = define("till", {**PLAIN, "role": "consumer", "static": True})
    ids = {consumer_config(static, endpoint, member)["group.instance.id"] for member in range(2)}
    assert ids == {"till-0", "till-1"}
    assert "group.instance.id" not in consumer_config(replace(static, static=False), endpoint, 0)


def test_records_without_a_key_are_in_the_ledger_by_partition(tmp_path: Path) -> None:
    """Their order is that of their partition: across partitions none is out of order."""
    ledger = Writer(tmp_path / "c.log")
    for seq, key in ((5, None), (6, b"a\tb")):
        write_processed(ledger, "P", Received("T", 3, seq + 10, key, "pay.a1b2c3", seq), 99)
    ledger.close()
    rows = [line.split("\t") for line in (tmp_path / "c.log").read_text().splitlines()]
    assert [row[1:7] for row in rows] == [
        ["pay.a1b2c3", "5", "T-3", "T", "3", "15"],
        ["pay.a1b2c3", "6", "a b", "T", "3", "16"],
    ]


@pytest.mark.parametrize("value", [b"", b"hello", b"a|b|c|d", b"a|1|", b"a\tb|1||", "ä|1||".encode()])
def test_a_record_of_another_program_is_foreign(value: bytes) -> None:
    assert identity_of(value) == FOREIGN


def test_the_records_of_a_key_stay_in_one_topic() -> None:
    topics = ("A", "B", "C")
    seen = {(key_of(seq, 10), topic_of(seq, 10, topics)) for seq in range(1000)}
    assert len(seen) == 10
    assert {topic for _key, topic in seen} == set(topics)


@pytest.mark.parametrize(("share", "aborted"), [(0.0, 0), (0.2, 20), (0.5, 50), (1.0, 100)])
def test_the_share_of_aborted_transactions_is_exact_and_spread(share: float, aborted: int) -> None:
    pattern = [is_aborted(number, share) for number in range(100)]
    assert sum(pattern) == aborted
    assert sum(pattern[:50]) == aborted / 2


def test_a_recycled_pid_is_another_process() -> None:
    mine = this_process()
    assert mine.is_running()
    assert not replace(mine, started=mine.started - 1).is_running()
    assert not replace(mine, started=mine.started - 1).send(signal.SIGKILL)


def test_a_zombie_process_has_ended() -> None:
    with subprocess.Popen([sys.executable, "-c", "pass"]) as child:
        process = find_process(child.pid)
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert process.wait(1.0)
        assert not process.is_running()
