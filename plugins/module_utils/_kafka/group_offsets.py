# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Requests for the committed offsets of groups, with the functions of the librdkafka that confluent-kafka has loaded.

The same requests of confluent-kafka (2.16) cannot be used, for two reasons:

- It reads metadata up to a zero byte, which librdkafka does not add to a copy (its issue 4649): what follows in memory
  is read too, and may not even be text. It writes a zero byte after each text, also after an empty one. Then
  Parallel Consumer processes finished records again, and old versions of Kafka Streams do not start (R49).
- Its admin client has no consumer group of its own. librdkafka crashes without one if the coordinator of the group that
  is read has just left (its issue 5040). This client has one, which it never joins.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from ctypes import POINTER, Structure, byref, c_char_p, c_int, c_int32, c_int64, c_size_t, c_void_p, string_at
from ctypes.util import find_library
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from .._core.errors import DrError
from .._core.partition import Partition
from .._guard import require_ownership

with suppress(ImportError):  # Kafka() reports the missing library before anything here runs
    import confluent_kafka
    from confluent_kafka import KafkaError, KafkaException

__all__ = ["UNLIMITED", "Committed", "GroupOffsets", "PendingOffsets", "Row"]


class Committed(NamedTuple):
    """What a group has committed on a partition."""

    #: Offset of the next record that the group reads.
    offset: int
    #: A text of the application that the broker stores with the offset. "": none.
    metadata: str = ""


class Row(NamedTuple):
    """The answer for one partition."""

    partition: Partition
    #: Of a commit: what was sent. The offset is negative if there is none.
    committed: Committed
    #: KafkaError; None: success.
    error: Any


class _Partition(Structure):
    """``rd_kafka_topic_partition_t``."""

    _fields_ = (
        ("topic", c_char_p),
        ("partition", c_int32),
        ("offset", c_int64),
        ("metadata", c_void_p),
        ("metadata_size", c_size_t),
        ("opaque", c_void_p),
        ("err", c_int),
        ("private", c_void_p),
    )


class _Partitions(Structure):
    """``rd_kafka_topic_partition_list_t``."""

    _fields_ = (("cnt", c_int), ("size", c_int), ("elems", POINTER(_Partition)))


_LIST = POINTER(_Partitions)
# Result and arguments of each function, whose name begins with "rd_kafka_" (rdkafka.h of librdkafka 2.6 to 2.16).
_FUNCTIONS: dict[str, tuple[Any, ...]] = {
    "conf_new": (c_void_p,),
    "conf_set": (c_int, c_void_p, c_char_p, c_char_p, c_char_p, c_size_t),
    "conf_set_log_cb": (None, c_void_p, c_void_p),
    "new": (c_void_p, c_int, c_void_p, c_char_p, c_size_t),
    "destroy_flags": (None, c_void_p, c_int),
    "mem_malloc": (c_void_p, c_void_p, c_size_t),
    "queue_new": (c_void_p, c_void_p),
    "queue_destroy": (None, c_void_p),
    "queue_poll": (c_void_p, c_void_p, c_int),
    "AdminOptions_new": (c_void_p, c_void_p, c_int),
    "AdminOptions_destroy": (None, c_void_p),
    "AdminOptions_set_request_timeout": (c_int, c_void_p, c_int, c_char_p, c_size_t),
    "AdminOptions_set_require_stable_offsets": (c_void_p, c_void_p, c_int),
    "topic_partition_list_new": (_LIST, c_int),
    "topic_partition_list_add": (POINTER(_Partition), _LIST, c_char_p, c_int32),
    "topic_partition_list_destroy": (None, _LIST),
    "event_error": (c_int, c_void_p),
    "event_error_string": (c_char_p, c_void_p),
    "event_destroy": (None, c_void_p),
    "group_result_error": (c_void_p, c_void_p),
    "group_result_partitions": (_LIST, c_void_p),
    "error_code": (c_int, c_void_p),
    "error_string": (c_char_p, c_void_p),
}
for _request in ("ListConsumerGroupOffsets", "AlterConsumerGroupOffsets"):
    _FUNCTIONS |= {
        _request: (None, c_void_p, POINTER(c_void_p), c_size_t, c_void_p, c_void_p),
        f"{_request}_new": (c_void_p, c_char_p, _LIST),
        f"{_request}_destroy": (None, c_void_p),
        f"{_request}_result_groups": (POINTER(c_void_p), c_void_p, POINTER(c_size_t)),
        f"event_{_request}_result": (c_void_p, c_void_p),
    }
_CONSUMER = 1
_ANY_REQUEST = 0
_NO_CONSUMER_CLOSE = 0x8
_TEXT = 512
#: Time-out of requests to coordinators (s): longer than any wait. If one ends while librdkafka (2.16) looks for the
#: coordinator, it crashes as soon as a broker answers (its pull request 5397). So a deadline of ours ends the wait.
UNLIMITED = 3600.0


class GroupOffsets:
    """A client for these requests. It ends when nothing refers to it any more: what it has not sent is not sent later.

    ``properties``: librdkafka's. Raises ``library_missing`` if confluent-kafka has librdkafka built in.
    """

    def __init__(self, properties: Mapping[str, Any]) -> None:
        self.library = _library()
        settings, text = self.library("conf_new")(), ctypes.create_string_buffer(_TEXT)
        self.library("conf_set_log_cb")(settings, None)
        own = {"group.id": "kafka-dr-reader", "enable.auto.commit": False}
        for name, value in {**own, **properties}.items():
            shown = str(value).lower() if isinstance(value, bool) else str(value)
            if self.library("conf_set")(settings, name.encode(), shown.encode(), text, _TEXT):
                raise KafkaException(KafkaError(KafkaError._INVALID_ARG, text.value.decode()))
        self.handle = self.library("new")(_CONSUMER, settings, text, _TEXT)
        if self.handle is None:
            raise KafkaException(KafkaError(KafkaError._INVALID_ARG, text.value.decode()))

    def __del__(self) -> None:
        if getattr(self, "handle", None) is not None:
            self.library("destroy_flags")(self.handle, _NO_CONSUMER_CLOSE)

    def read(self, group: str) -> PendingOffsets:
        """Send the request for all committed offsets of a group, without those that a transaction may replace."""
        return PendingOffsets(self, "ListConsumerGroupOffsets", group, None)

    def commit(self, group: str, offsets: Mapping[Partition, Committed]) -> PendingOffsets:
        """Send the request that commits offsets with their metadata for a group."""
        require_ownership()
        rows = self.library("topic_partition_list_new")(len(offsets))
        for key, committed in sorted(offsets.items()):
            row = self.library("topic_partition_list_add")(rows, key.topic.encode(), key.partition)[0]
            row.offset = committed.offset
            if text := committed.metadata.encode():
                # The list frees it.
                row.metadata, row.metadata_size = self.library("mem_malloc")(self.handle, len(text)), len(text)
                ctypes.memmove(row.metadata, text, len(text))
        try:
            return PendingOffsets(self, "AlterConsumerGroupOffsets", group, rows)
        finally:
            self.library("topic_partition_list_destroy")(rows)


class PendingOffsets:
    """A request that was sent."""

    def __init__(self, client: GroupOffsets, request: str, group: str, rows: Any) -> None:
        self._client, self._request, self._library = client, request, client.library
        self._queue = self._library("queue_new")(client.handle)
        options = self._library("AdminOptions_new")(client.handle, _ANY_REQUEST)
        text = ctypes.create_string_buffer(_TEXT)
        self._library("AdminOptions_set_request_timeout")(options, int(UNLIMITED * 1000), text, _TEXT)
        self._library("AdminOptions_set_require_stable_offsets")(options, 1)
        wanted = c_void_p(self._library(f"{request}_new")(group.encode(), rows))
        self._library(request)(client.handle, byref(wanted), 1, options, self._queue)
        self._library(f"{request}_destroy")(wanted)
        self._library("AdminOptions_destroy")(options)

    def __del__(self) -> None:
        self._library("queue_destroy")(self._queue)

    def result(self, until: float) -> list[Row]:
        """Wait for the answer until ``until`` (``time.monotonic()``). Raises KafkaException, also if there is none."""
        event = self._library("queue_poll")(self._queue, max(0, int((until - time.monotonic()) * 1000)))
        if event is None:
            raise KafkaException(KafkaError(KafkaError._TIMED_OUT, "No broker answered in time"))
        try:
            return self._rows(event)
        finally:
            self._library("event_destroy")(event)

    def _rows(self, event: int) -> list[Row]:
        if code := self._library("event_error")(event):
            raise _error(code, self._library("event_error_string")(event))
        count = c_size_t()
        result = self._library(f"event_{self._request}_result")(event)
        # One group for each request.
        group = self._library(f"{self._request}_result_groups")(result, byref(count))[0]
        if error := self._library("group_result_error")(group):
            raise _error(self._library("error_code")(error), self._library("error_string")(error))
        rows = self._library("group_result_partitions")(group)[0]
        return [_row(row) for row in rows.elems[: rows.cnt]]


def _row(row: Any) -> Row:
    text = string_at(row.metadata, row.metadata_size).decode("utf-8", "replace") if row.metadata else ""
    error = KafkaError(row.err) if row.err else None
    return Row(Partition(row.topic.decode(), row.partition), Committed(row.offset, text), error)


def _error(code: int, text: bytes | None) -> Exception:
    return KafkaException(KafkaError(code, (text or b"").decode("utf-8", "replace")))


class _Library:
    """The functions of :data:`_FUNCTIONS`, by name."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._functions = {}
        for name, (result, *arguments) in _FUNCTIONS.items():
            function = getattr(library, f"rd_kafka_{name}")
            function.restype, function.argtypes = result, arguments
            self._functions[name] = function

    def __call__(self, name: str) -> Any:
        return self._functions[name]


@cache
def _library() -> _Library:
    for path in _paths():
        with suppress(OSError, AttributeError):
            return _Library(ctypes.CDLL(path))
    raise DrError(
        "library_missing",
        f"No librdkafka was found beside confluent-kafka in {Path(confluent_kafka.__file__).parent}. It reads and"
        " commits the offsets of groups.",
        "Install confluent-kafka as a wheel or as a package of the distribution, with a shared librdkafka.",
    )


def _paths() -> Iterator[str]:
    with suppress(OSError):  # of Linux: what this process has loaded
        for line in Path("/proc/self/maps").read_text().splitlines():
            if "librdkafka" in line:
                yield line.split(maxsplit=5)[-1]
    package = Path(confluent_kafka.__file__).parent
    for folder in (package.with_name("confluent_kafka.libs"), package / ".dylibs"):
        yield from map(str, sorted(folder.glob("librdkafka*")))
    if installed := find_library("rdkafka"):
        yield installed
