# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A long wait needs no more memory than a short one, although modules disable the garbage collector."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import suppress

import pytest
from confluent_kafka import KafkaError, KafkaException

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import DrError
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.waiting import Bounds, wait_until
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.client import Kafka


class Observed:
    """Something large that an observation holds while it runs."""


@pytest.fixture(autouse=True)
def collector_off() -> Iterator[None]:
    gc.disable()
    gc.freeze()  # a collection scans only what this test makes; what is frozen stays
    yield
    gc.enable()


def test_a_failed_request_keeps_nothing_of_its_callers_alive() -> None:
    kafka = Kafka("127.0.0.1:1", {}, 1.0)

    def observe() -> weakref.ref[Observed]:
        observed = Observed()
        future: Future[None] = Future()
        future.set_exception(KafkaException(KafkaError(KafkaError.UNKNOWN_TOPIC_OR_PART)))
        with suppress(KafkaException):
            kafka.result(future)
        return weakref.ref(observed)

    assert observe()() is None


def test_a_failed_request_is_raised_with_its_error() -> None:
    future: Future[None] = Future()
    future.set_exception(KafkaException(KafkaError(KafkaError.UNKNOWN_TOPIC_OR_PART)))
    with pytest.raises(KafkaException) as raised:
        Kafka("127.0.0.1:1", {}, 1.0).result(future)
    assert raised.value.args[0].code() == KafkaError.UNKNOWN_TOPIC_OR_PART


def test_a_wait_frees_failed_observations_that_are_part_of_a_reference_cycle() -> None:
    now = [0.0]
    kept: list[weakref.ref[Observed]] = []

    def observe() -> bool:
        observed = Observed()
        kept.append(weakref.ref(observed))
        error = DrError("kafka_unreachable", "No broker answers.", "Start it.", retriable=True)
        raise error  # the frame holds the error, which holds the frame in its traceback

    with pytest.raises(DrError):
        wait_until(
            observe,
            bool,
            Bounds(200.0, 1.0),
            clock=(lambda: now[0], lambda seconds: now.__setitem__(0, now[0] + seconds)),
        )
    assert len(kept) == 201
    assert sum(ref() is not None for ref in kept) < 10
