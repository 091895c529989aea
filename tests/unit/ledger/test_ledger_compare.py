# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each anomaly is found exactly where the test created it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ledger.check import find_ledgers
from ledger.compare import compare
from ledger.errors import LedgerError
from ledger.gaps import Window
from ledger.reading import Ledger
from ledger.store import Writer

P1 = "pay.aaaaaa"


def ledger(name: str, header: str, *lines: str) -> Ledger:
    """Write a ledger. Spaces in the text become tabs."""
    whole = [line.replace(" ", "\t").encode() for line in (header, *lines)]

    def read() -> Iterator[list[bytes]]:
        yield list(whole)

    return Ledger(name, header.split(" "), read)


def producer(*lines: str, owner: str = P1) -> Ledger:
    return ledger("ledger-pay.log", f"H 1 producer {owner} 0", *lines)


def member(*lines: str, group: str = "settlement", number: int = 0, subscribed: str = "Payments,B.Payments") -> Ledger:
    start = f"S 1 start P {subscribed}"
    return ledger(f"ledger-{group}.{number}.log", f"H 1 consumer {group} {number}", start, *lines)


def sent(first: int, last: int, topic: str = "Payments") -> list[str]:
    """Announced and acknowledged one millisecond apart, with offset = number."""
    acknowledged = [f"K {seq} {topic} 0 {seq} {1000 * seq + 500}" for seq in range(first, last + 1)]
    return [f"A {first} {last} {1000 * first}", *acknowledged]


def processed(*numbers: int, owner: str = P1, key: str = "k0", at: int = 1_000_000) -> list[str]:
    return [f"P {owner} {seq} {key} Payments 0 {seq} {at + 1000 * place}" for place, seq in enumerate(numbers)]


def group_of(*ledgers: Ledger) -> dict[str, Any]:
    groups: Any = compare(ledgers)["groups"]
    return groups["settlement"]


ANOMALIES = (
    "lost",
    "processed_twice",
    "phantom",
    "out_of_order",
    "failed_processed",
    "unknown_processed",
    "maybe_processed",
    "foreign",
    "reprocessings",
)


def anomalies(*ledgers: Ledger) -> dict[str, int]:
    found = group_of(*ledgers)
    return {name: found[name] for name in ANOMALIES if found[name]}


def test_everything_processed_once_is_clean() -> None:
    ledgers = [producer(*sent(0, 9)), member(*processed(*range(10)))]
    assert anomalies(*ledgers) == {}
    assert compare(ledgers)["verdict"] == "clean"
    assert (group_of(*ledgers)["acknowledged"], group_of(*ledgers)["processed"]) == (10, 10)


def test_an_acknowledged_unprocessed_record_is_lost_and_reported_with_its_offset() -> None:
    ledgers = [producer(*sent(0, 9)), member(*processed(0, 1, 2, 4, 5, 6, 7, 8, 9))]
    assert anomalies(*ledgers) == {"lost": 1}
    assert compare(ledgers)["verdict"] == "damaged"
    place = {"topic": "Payments", "partition": 0, "offset": 3, "time_us": 3500}
    assert group_of(*ledgers)["samples"]["lost"] == [{"producer": P1, "seq": 3, "sent": place, "processed": []}]


def test_a_reprocessed_record_counts_once_as_duplicate_and_each_time_as_reprocessing() -> None:
    ledgers = [producer(*sent(0, 2)), member(*processed(0, 1, 2, 1, 1))]
    assert anomalies(*ledgers) == {"processed_twice": 1, "reprocessings": 2}
    assert compare(ledgers)["verdict"] == "clean"
    assert len(group_of(*ledgers)["samples"]["processed_twice"][0]["processed"]) == 3


def test_an_aborted_record_that_was_processed_is_a_phantom() -> None:
    ledgers = [producer("A 0 1 0", "K 0 Payments 0 0 1", "X 1 Payments 0 1 2"), member(*processed(0, 1))]
    assert anomalies(*ledgers) == {"phantom": 1}
    assert compare(ledgers)["verdict"] == "damaged"


def test_an_unprocessed_aborted_record_is_no_anomaly() -> None:
    assert anomalies(producer("A 0 1 0", "K 0 Payments 0 0 1", "X 1 Payments 0 1 2"), member(*processed(0))) == {}


@pytest.mark.parametrize(("owner", "seq"), [(P1, 77), ("pay.bbbbbb", 0)])
def test_a_number_that_no_producer_announced_is_a_phantom(owner: str, seq: int) -> None:
    ledgers = [producer(*sent(0, 1)), member(*processed(0, 1), *processed(seq, owner=owner, at=2_000_000))]
    assert anomalies(*ledgers) == {"phantom": 1}
    assert group_of(*ledgers)["samples"]["phantom"][0]["producer"] == owner


def test_a_record_of_another_program_is_foreign_and_not_judged() -> None:
    ledgers = [producer(*sent(0, 1)), member(*processed(0, 1), "P - -1  Payments 0 9 2000000")]
    assert anomalies(*ledgers) == {"foreign": 1}
    assert compare(ledgers)["verdict"] == "clean"


def test_an_announced_record_without_an_outcome_is_unknown_even_if_it_was_processed() -> None:
    ledgers = [producer(*sent(0, 1), "A 2 3 9000"), member(*processed(0, 1, 2))]
    assert anomalies(*ledgers) == {"unknown_processed": 1}
    assert compare(ledgers)["totals"]["unknown"] == 2
    assert compare(ledgers)["verdict"] == "clean"


def test_a_failure_with_an_unknown_outcome_is_unknown() -> None:
    ledgers = [producer("A 0 1 0", "K 0 Payments 0 0 1", "U 1 9 _MSG_TIMED_OUT"), member(*processed(0))]
    assert anomalies(*ledgers) == {}
    assert (compare(ledgers)["totals"]["unknown"], compare(ledgers)["totals"]["failed"]) == (1, 0)


def test_a_refused_record_is_neither_lost_nor_a_phantom() -> None:
    refused = producer("A 0 1 0", "K 0 Payments 0 0 1", "F 1 9 TOPIC_AUTHORIZATION_FAILED")
    assert anomalies(refused, member(*processed(0))) == {}
    assert anomalies(refused, member(*processed(0, 1))) == {"failed_processed": 1}


def test_order_is_judged_by_key() -> None:
    two_keys = [*processed(1, key="k1"), *processed(0, key="k0", at=2_000_000)]
    assert anomalies(producer(*sent(0, 1)), member(*two_keys)) == {}
    ledgers = [producer(*sent(0, 2)), member(*processed(0, 2, 1))]
    assert anomalies(*ledgers) == {"out_of_order": 1}
    assert group_of(*ledgers)["samples"]["out_of_order"][0]["after"] == 2


def test_order_is_judged_by_first_processing() -> None:
    assert anomalies(producer(*sent(0, 2)), member(*processed(0, 1, 2, 0))) == {
        "processed_twice": 1,
        "reprocessings": 1,
    }


def test_two_members_share_the_records_of_a_group() -> None:
    first, second = member(*processed(0, 2)), member(*processed(1, 3, key="k1"), number=1)
    assert anomalies(producer(*sent(0, 3)), first, second) == {}


def test_a_record_processed_by_two_members_is_processed_twice() -> None:
    first, second = member(*processed(0, 1)), member(*processed(1, at=2_000_000), number=1)
    ledgers = [producer(*sent(0, 1)), first, second]
    assert anomalies(*ledgers) == {"processed_twice": 1, "reprocessings": 1}
    places = group_of(*ledgers)["samples"]["processed_twice"][0]["processed"]
    assert [place["ledger"] for place in places] == ["ledger-settlement.0.log", "ledger-settlement.1.log"]


def test_order_across_members_is_by_time_not_by_file() -> None:
    later, earlier = member(*processed(1, at=5_000_000)), member(*processed(0, at=1_000_000), number=1)
    assert anomalies(producer(*sent(0, 1)), later, earlier) == {}
    later, earlier = member(*processed(0, at=5_000_000)), member(*processed(1, at=1_000_000), number=1)
    assert anomalies(producer(*sent(0, 1)), later, earlier) == {"out_of_order": 1}


def test_groups_are_judged_separately() -> None:
    result: Any = compare([producer(*sent(0, 1)), member(*processed(0, 1)), member(*processed(0), group="fraud")])
    assert {name: item["lost"] for name, item in result["groups"].items()} == {"settlement": 0, "fraud": 1}
    assert result["verdict"] == "damaged"


def test_records_of_topics_that_the_group_does_not_read_are_not_lost() -> None:
    lines = [*sent(0, 1), *sent(2, 3, topic="Refunds")]
    assert anomalies(producer(*lines), member(*processed(0, 1))) == {}
    assert group_of(producer(*lines), member(*processed(0, 1)))["acknowledged"] == 2


@pytest.mark.parametrize(("subscribed", "lost"), [("^Pay.*", 2), ("^Ref.*", 0), ("Payments,Refunds", 2)])
def test_subscriptions_may_be_patterns(subscribed: str, lost: int) -> None:
    assert group_of(producer(*sent(0, 1)), member(subscribed=subscribed))["lost"] == lost


def test_a_changed_subscription_covers_all_topics_it_ever_had() -> None:
    lines = [*sent(0, 1), *sent(2, 3, topic="Refunds")]
    reader = member(*processed(0, 1), "S 9000000 start B Refunds", *processed(2, 3, at=10_000_000))
    assert group_of(producer(*lines), reader)["acknowledged"] == 4


def test_a_restarted_producer_continues_and_its_unknown_records_stay_unknown() -> None:
    lines = ["S 1 start P Payments", *sent(0, 4), "A 5 6 5000", "S 9 start B Payments", *sent(7, 9)]
    ledgers = [producer(*lines), member(*processed(0, 1, 2, 3, 4, 7, 8, 9))]
    assert anomalies(*ledgers) == {}
    assert compare(ledgers)["totals"]["unknown"] == 2


def test_a_truncated_line_is_ignored(tmp_path: Path) -> None:
    """With real files: a kill truncates the last line of both, and the next writer continues."""
    texts = {
        "ledger-pay.log": ["H 1 producer pay.aaaaaa 0", *sent(0, 1), "K 1 Pay"],
        "ledger-settlement.log": [
            "H 1 consumer settlement 0",
            "S 1 start P Payments",
            *processed(0),
            "P pay.aaaaaa 0 k",
        ],
    }
    for name, lines in texts.items():
        (tmp_path / name).write_text("\n".join(lines).replace(" ", "\t"))
        Writer(tmp_path / name).close()
    with (tmp_path / "ledger-settlement.log").open("a") as file:
        file.write(processed(1, at=2_000_000)[0].replace(" ", "\t") + "\n")
    ledgers = find_ledgers(tmp_path)
    assert anomalies(*ledgers) == {}
    assert compare(ledgers)["verdict"] == "clean"


def test_a_line_that_no_client_writes_is_an_error_naming_the_ledger() -> None:
    with pytest.raises(LedgerError, match=r"ledger-settlement\.0\.log"):
        compare([producer(*sent(0, 1)), member("P pay.aaaaaa zero k0 Payments 0 1 1")])
    with pytest.raises(LedgerError, match=r"ledger-pay\.log"):
        compare([producer("K 5 Payments 0 0 1"), member()])


def transaction(number: int, *numbers: int, end: str | None) -> list[str]:
    lines = [f"Q {number} {line[2:]}" for line in processed(*numbers)]
    return lines if end is None else [*lines, f"{end} {number} 3000000"]


def test_a_processor_has_processed_the_records_of_its_committed_transaction() -> None:
    lines = [*transaction(0, 0, 1, end="D"), *transaction(2, 0, 1, end="C")]
    assert anomalies(producer(*sent(0, 1)), member(*lines)) == {}


def test_an_aborted_transaction_has_processed_nothing() -> None:
    assert anomalies(producer(*sent(0, 1)), member(*transaction(0, 0, 1, end="D"))) == {"lost": 2}


def test_an_unfinished_transaction_is_unknown_unless_its_records_were_processed_again() -> None:
    assert anomalies(producer(*sent(0, 1)), member(*transaction(0, 0, 1, end=None))) == {"maybe_processed": 2}
    again = [*transaction(0, 0, 1, end=None), *transaction(2, 0, 1, end="C")]
    assert anomalies(producer(*sent(0, 1)), member(*again)) == {}


def test_a_group_without_any_acknowledged_record_proves_nothing() -> None:
    assert compare([producer(*sent(0, 1)), member(subscribed="Refunds")])["verdict"] == "unknown"
    assert compare([producer("A 0 1 0"), member()])["verdict"] == "unknown"


def test_samples_are_bounded_counts_are_not() -> None:
    found = group_of(producer(*sent(0, 99)), member())
    assert (found["lost"], len(found["samples"]["lost"])) == (100, 20)


def test_gaps_are_reported_for_writes_and_for_each_group() -> None:
    lines = ["A 0 2 0", "K 0 Payments 0 0 1000000", "K 1 Payments 0 1 1400000", "K 2 Payments 0 2 9000000"]
    reader = member(*processed(0, at=2_000_000), *processed(1, at=2_500_000), *processed(2, at=9_000_000))
    gaps: Any = compare([producer(*lines), reader], Window(900_000, 9_000_000))["gaps"]
    assert gaps["acknowledged"] == {"seconds": 7.6, "start": 1_400_000, "end": 9_000_000, "open": False}
    assert gaps["groups"]["settlement"] == {"seconds": 6.5, "start": 2_500_000, "end": 9_000_000, "open": False}
