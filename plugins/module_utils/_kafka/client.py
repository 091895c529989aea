# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Connect to one Kafka cluster, and turn its errors into errors with a cause and a next step.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, TypeVar

from .._core.errors import DrError, LockedOut, Unreachable
from .._core.partition import Partition
from .._core.resources.acl import Acl
from .._core.resources.topics import TopicState
from .._core.retriable import LIBRARY_ERRORS, is_retriable_code
from .._core.security import librdkafka_properties
from .._core.waiting import Bounds, wait_until
from .._files import require_file
from .._guard import require_ownership
from .group_offsets import GroupOffsets
from .tls import why_not_trusted

# The methods of AdminClient that change the cluster.
CHANGES = (
    "alter_configs",
    "alter_consumer_group_offsets",
    "alter_user_scram_credentials",
    "create_acls",
    "create_partitions",
    "create_topics",
    "delete_acls",
    "delete_consumer_groups",
    "delete_records",
    "delete_topics",
    "elect_leaders",
    "incremental_alter_configs",
)

try:
    from confluent_kafka import Consumer, KafkaError, KafkaException, Producer
    from confluent_kafka.admin import AdminClient

    class _GuardedAdmin(AdminClient):
        """An admin client that proves ownership of the pair before each request that changes the cluster."""

    def _guarded(name: str) -> Callable[..., Any]:
        change = getattr(AdminClient, name)

        def call(self: Any, *args: Any, **named: Any) -> Any:
            if not named.get("validate_only"):
                require_ownership()
            return change(self, *args, **named)

        return call

    for _name in CHANGES:
        setattr(_GuardedAdmin, _name, _guarded(_name))

    IMPORT_ERROR: ImportError | None = None
except ImportError as error:  # the import sanity test and ansible-doc run without the library
    IMPORT_ERROR = error

__all__ = ["Kafka", "Need", "connect", "is_refused", "kafka_error", "missing_right"]

# Resource type, name and operation of a right, as in an ACL.
Need = tuple[str, str, str]

T = TypeVar("T")
_FETCH_BYTES = 4_000_000
# Seconds between two attempts of a request.
_AGAIN = 0.2
# Seconds without a response after which the metadata are read again.
_METADATA_SECONDS = 2.0
# A request for metadata names a topic, or is for all of them. No broker accepts this name.
_NO_TOPIC = "kafka-dr:none"
_NO_BROKER = ": the broker that answered knows of no broker, because it is starting or does not reach the controller"
_UNREACHABLE = "Check that the brokers run, that the address is right, and the client's security settings."
# The kind of resource that a right is missing on, by the broker's error code.
_REFUSED = {
    "TOPIC_AUTHORIZATION_FAILED": "topic",
    "GROUP_AUTHORIZATION_FAILED": "group",
    "CLUSTER_AUTHORIZATION_FAILED": "cluster",
    "TRANSACTIONAL_ID_AUTHORIZATION_FAILED": "transactional_id",
}
# Properties of librdkafka that name a file or a folder of this host.
_FILES = (
    "ssl.ca.location",
    "ssl.certificate.location",
    "ssl.key.location",
    "ssl.keystore.location",
    "ssl.crl.location",
    "https.ca.location",
    "sasl.oauthbearer.assertion.private.key.file",
)
_LOUD_ERRORS = ("_AUTHENTICATION", "_SSL", "_RESOLVE")
# Causes that mean that the broker or the client rejects the other one. A connection that breaks during a login is not
# one of them, because a dying broker causes that too.
_LOCKED_OUT = re.compile("certificate|invalid credentials|Authentication failed|Kerberos: ")
_UNKNOWN_HOST = re.compile("Failed to resolve")
# Each layer reports a failure; the text of the innermost layer names the cause.
_GSSAPI = re.compile(r"GSSAPI Error: [^(]*\((.+?)\)(?: \(after .*)?$", re.DOTALL)


class Kafka:
    """Admin, consumer and producer clients of one cluster. Records the admin requests that were sent.

    ``client``: Kafka client properties. ``timeout``: seconds for each request. Raises ``library_missing`` without
    confluent-kafka.
    """

    def __init__(self, bootstrap_servers: str, client: Mapping[str, Any], timeout: float) -> None:
        if IMPORT_ERROR is not None:
            raise DrError(
                "library_missing",
                f"The Python library confluent-kafka could not be imported: {IMPORT_ERROR}.",
                "Install it for the interpreter that runs this task: pip install 'confluent-kafka>=2.6,<3'.",
            )
        self.bootstrap_servers = bootstrap_servers
        self.timeout = timeout
        self.requests: list[dict[str, Any]] = []
        self._causes: list[str] = []
        properties = librdkafka_properties(client)
        _require_files(properties, bootstrap_servers)
        #: librdkafka's properties, with their secrets.
        self.properties: dict[str, Any] = {**properties, "bootstrap.servers": bootstrap_servers}
        self._config = {**self.properties, "error_cb": self._note, "logger": _SILENT}
        # Former admin clients with the moment of their replacement: requests in other threads end with their client.
        self._former: list[tuple[float, AdminClient]] = []
        self.admin = self._connected()
        self._group_offsets: GroupOffsets | None = None
        self.cluster_id = ""
        #: Ids of the brokers that the cluster had when it was identified.
        self.broker_ids: list[int] = []
        # Whether topics.require_all_visible() has passed.
        self.sees_all_topics = False
        # Whether groups.listed() has shown that it lists every group.
        self.sees_all_groups = False
        # Cache of topics.remember(). seen_topics None: no cache, every call sends its requests.
        self.seen_topics: dict[str, TopicState | None] | None = None
        self.seen_settings: frozenset[str] = frozenset()
        self.seen_starts: dict[Partition, int] = {}
        self.seen_ends: dict[Partition, int] = {}
        # Cache of latest.read_latest(): by topic its id, the offset up to which it was read, and the values.
        self.seen_latest: dict[str, tuple[str, int, dict[str, dict[str, Any]]]] = {}
        # Consumers that only look up offsets, by isolation level: a new one first reads where each partition is led.
        self._offset_readers: dict[str, Consumer] = {}

    def _note(self, error: KafkaError) -> None:
        if error.name() in _LOUD_ERRORS:
            self._causes.append(error.str())

    def reconnect(self, keep: bool = True) -> None:
        """Use a new admin client, which knows no coordinator yet. Not ``keep``: end the former one."""
        now = time.monotonic()
        # Another thread may still wait for its answers. Later ones are not needed.
        self._former = [(since, admin) for since, admin in self._former if now - since < self.timeout + 5]
        if keep:
            self._former.append((now, self.admin))
        self.admin = self._connected()
        self._group_offsets = None
        self._offset_readers.clear()

    def _connected(self) -> AdminClient:
        try:
            return _GuardedAdmin({**self._defaults(), "allow.auto.create.topics": False, **self._config})
        except KafkaException as error:
            raise kafka_error(error, "create a Kafka client", self.bootstrap_servers) from error

    def _defaults(self) -> dict[str, Any]:
        return {"socket.timeout.ms": int(self.timeout * 1000)}

    @property
    def group_offsets(self) -> GroupOffsets:
        """The client for committed offsets. Keep it until its answers have arrived: another thread may replace it."""
        client = self._group_offsets
        if client is None:
            try:
                client = self._group_offsets = GroupOffsets({**self._defaults(), **self.properties})
            except KafkaException as error:
                raise kafka_error(error, "create a Kafka client", self.bootstrap_servers) from error
        return client

    def note_request(self, api: str, **facts: Any) -> None:
        """Record one admin request, without secrets. Modules return the list as ``requests``."""
        self.requests.append({"api": api, **facts})

    def settle(self, future: Future[T], doing: str, *needs: Need, until: float | None = None) -> T:
        """Return the result of an admin future, and raise its failure as a :class:`DrError`. See :meth:`result`.

        ``doing``: the operation, for the message: an imperative such as "describe the cluster". ``needs``: the rights
        that it needs, for the message of a refusal.
        """
        try:
            return self.result(future, until)
        except KafkaException as error:
            raise self.explain(error, doing, *needs) from error

    def result(self, future: Future[T], until: float | None = None) -> T:
        """Return the result of an admin future, or raise its KafkaException.

        ``until``: the deadline (``time.monotonic()``) of a request that librdkafka does not end by itself.
        librdkafka sends most admin requests to the broker that its metadata names as the controller. If that broker is
        down, it waits for it during the whole time-out. Newer metadata name another broker.
        """
        until = time.monotonic() + self.timeout + 5 if until is None else until
        while True:
            try:
                failure = future.exception(timeout=min(_METADATA_SECONDS, max(0.0, until - time.monotonic())))
                break
            except TimeoutError:
                if time.monotonic() >= until:
                    text = f"No broker answered within {self.timeout:g} s"
                    raise KafkaException(KafkaError(KafkaError._TIMED_OUT, text)) from None
            with suppress(KafkaException):
                self.admin.list_topics(timeout=_METADATA_SECONDS)
        if isinstance(failure, KafkaException):
            # A copy: the traceback of the original would hold frames that hold the future, which holds the original.
            raise type(failure)(*failure.args)
        return future.result()

    def patiently(self, read: Callable[..., T], *values: Any) -> T:
        """Return ``read(*values)``. Repeat it while brokers restart or leaders move, within the request time-out (R35).

        ``read`` must not change anything on the cluster.
        """
        return wait_until(lambda: read(*values), lambda _result: True, Bounds(self.timeout, _AGAIN)).state

    def in_attempts(self, read: Callable[..., T], *values: Any, done: Callable[[T], bool] = lambda _result: True) -> T:
        """Like :meth:`patiently`, for ``read(seconds, *values)`` of coordinators, until ``done(result)``.

        A broker that has crashed stays a coordinator until its session ends, and librdkafka waits for it during the
        whole time-out of a request. So the first attempts have a third of the request time-out. The last one begins
        within that time and has all of it, for a cluster that is only slow.
        """
        short = self.timeout / 3
        began = time.monotonic()

        def attempt() -> T:
            early = time.monotonic() - began < self.timeout - short
            return self.attempt(read, short if early else self.timeout, *values)

        return wait_until(attempt, done, Bounds(self.timeout, _AGAIN)).state

    def attempt(self, read: Callable[..., T], seconds: float, *values: Any) -> T:
        """Return ``read(seconds, *values)``. If brokers do not answer it, or not yet, the next client is a new one.

        A client remembers coordinators and brokers for minutes.
        """
        try:
            return read(seconds, *values)
        except DrError as error:
            if error.retriable or isinstance(error, Unreachable):
                self.reconnect()
            raise

    @property
    def brokers(self) -> int:
        """The number of brokers that the cluster had when it was identified."""
        return len(self.broker_ids)

    @property
    def principal(self) -> str:
        """The principal that a user name stands for by default; "": the login has no user name."""
        name = self._config.get("sasl.username")
        return f"User:{name}" if name else ""

    def explain(self, error: KafkaException, doing: str, *needs: Need) -> DrError:
        """Turn ``error`` into a :class:`DrError`, with the cause that librdkafka reports only to its error callback."""
        self.admin.poll(0)
        cause = self._causes[-1] if self._causes else ""
        if "certificate" in cause:
            cause = why_not_trusted(self._config) or cause
        failure = kafka_error(error, doing, self.bootstrap_servers, cause, needs, self.principal)
        # The cluster answered before, so its address is right, and the name service may be what restarts.
        if self.cluster_id and isinstance(failure, Unreachable) and not isinstance(failure, LockedOut):
            failure.retriable = True
        return failure

    def identify(self, expected: str | None) -> str:
        """Read and return the cluster id. Raises ``wrong_cluster`` if it is not ``expected``. One request."""
        self.note_request("describe_cluster")
        metadata = self.patiently(_metadata, self)
        self.cluster_id = metadata.cluster_id or ""
        self.broker_ids = sorted(metadata.brokers)
        if expected and self.cluster_id != expected:
            raise DrError(
                "wrong_cluster",
                f'"{self.bootstrap_servers}" is the cluster with the id "{self.cluster_id}", wanted "{expected}".',
                "Correct bootstrap_servers or the cluster id in the inventory.",
                self.bootstrap_servers,
            )
        return self.cluster_id

    def consumer(self, isolation: str = "read_committed", group: str = "kafka-dr-reader", **more: Any) -> Consumer:
        """Return a consumer for assigned partitions that never commits, resets an offset, or creates a topic.

        Callers read few records, so a fetch is small. Do not use ``queued.min.messages`` for this: if a batch has more
        records than that, librdkafka never fetches some partitions again.
        """
        return Consumer(
            {
                "fetch.max.bytes": max(_FETCH_BYTES, int(self._config.get("message.max.bytes", 0))),
                **self._config,
                "group.id": group,
                "enable.auto.commit": False,
                "auto.offset.reset": "error",
                "isolation.level": isolation,
                "enable.partition.eof": True,
                "allow.auto.create.topics": False,
                # A range often ends in a transaction marker. The consumer reports such an end after one more fetch.
                "fetch.wait.max.ms": 10,
                **more,
            }
        )

    def offset_reader(self, isolation: str) -> Consumer:
        """Return the consumer that looks up offsets with this isolation level. Callers do not close it."""
        reader = self._offset_readers.get(isolation)
        if reader is None:  # another thread may forget it at any time
            reader = self._offset_readers[isolation] = self.consumer(isolation)
        return reader

    def forget_offset_reader(self, isolation: str) -> None:
        """Use a new one from now on: the present one may not know that a partition has another leader."""
        self._offset_readers.pop(isolation, None)

    def producer(self, **more: Any) -> Producer:
        """Return an idempotent producer with acks=all."""
        return Producer({**self._config, "enable.idempotence": True, "acks": "all", **more})


def _metadata(kafka: Kafka) -> Any:
    """Read which brokers the cluster has, and its id.

    Not with ``describe_cluster``: librdkafka (2.16) crashes the process if the answer has no broker. A broker that
    starts, or was frozen until the others took it for dead, knows of none for a moment (R35).
    """
    try:
        return kafka.admin.list_topics(topic=_NO_TOPIC, timeout=kafka.timeout)
    except KafkaException as error:
        raise kafka.explain(error, "describe the cluster") from error


def _require_files(properties: Mapping[str, Any], bootstrap_servers: str) -> None:
    """Raise if a file is missing that librdkafka would read. librdkafka reports it as if a broker had refused."""
    owner = f'the client of Kafka at "{bootstrap_servers}"'
    for name in _FILES:
        path = str(properties.get(name) or "")
        # "probe" is not a path. It makes librdkafka search the usual places.
        if path and (name, path) != ("ssl.ca.location", "probe"):
            require_file(name, path, owner)
    keytab = str(properties.get("sasl.kerberos.keytab") or "")
    # With a relogin time of 0, librdkafka uses an existing ticket and reads no keytab.
    if keytab and str(properties.get("sasl.kerberos.min.time.before.relogin", "")) != "0":
        require_file("sasl.kerberos.keytab", keytab.removeprefix("FILE:"), owner)


class _Silent:
    """Discard librdkafka's log lines: the standard output of a module is its JSON. Causes come from ``error_cb``."""

    def log(self, level: int, text: str, *values: Any) -> None:
        """Discard one line."""


_SILENT = _Silent()
_FEWER_REPLICAS = (
    "Use at most as many replicas as this cluster has brokers. For your topics, set replication_factor in"
    " kafka_dr_topics. For topics that the flows create, set kafka_dr_flow.replication_factor (default: 2 for replica"
    " topics, 3 for internal topics)."
)


def connect(params: Mapping[str, Any]) -> Kafka:
    """Connect with a module's options, and verify the cluster id first. Raises ``wrong_cluster``."""
    kafka = Kafka(params["bootstrap_servers"], params.get("client") or {}, float(params["request_timeout"]))
    kafka.identify(params.get("expected_cluster_id"))
    return kafka


def kafka_error(
    error: KafkaException,
    doing: str,
    endpoint: str,
    cause: str = "",
    needs: Sequence[Need] = (),
    principal: str = "",
) -> DrError:
    """Turn a KafkaException into a :class:`DrError` that distinguishes an unreachable cluster from a refusal.

    ``doing``: the failed operation. ``endpoint``: bootstrap servers. ``cause``: text of librdkafka's error callback.
    ``needs``: the rights that the operation needs, of the ``principal`` of this client.
    """
    inner = error.args[0] if error.args else None
    name = inner.name() if isinstance(inner, KafkaError) else ""
    text = (inner.str() if isinstance(inner, KafkaError) else str(error)).rstrip(".")
    text += _NO_BROKER if name == "_PARTIAL" else ""
    if "GSSAPI" in text and "No provider" in text:
        return DrError(
            "kerberos_missing",
            "This build of confluent-kafka has no Kerberos (GSSAPI) support.",
            "Build confluent-kafka against a librdkafka with SASL/GSSAPI, see docs/kerberos.md.",
            endpoint,
        )
    if name in LIBRARY_ERRORS or name in ("_RESOLVE", "REQUEST_TIMED_OUT"):
        hint = _UNREACHABLE
        if gssapi := _GSSAPI.search(cause):
            cause = f"Kerberos: {gssapi[1]}"
            hint = "Check the keytab, the principal, the service name, and the ticket (klist): see docs/kerberos.md."
        elif "expired" in cause:
            hint = "Renew the certificate of the brokers. No client setting can work around this."
        because = f" ({cause})" if cause else ""
        message = f'Kafka at "{endpoint}" did not answer: {doing}: {text}{because}.'
        if _LOCKED_OUT.search(cause):
            return LockedOut("kafka_unreachable", message, hint, endpoint)
        retriable = is_retriable_code(name) and not _UNKNOWN_HOST.search(cause)
        return Unreachable("kafka_unreachable", message, hint, endpoint, retriable=retriable)
    if is_retriable_code(name):
        text = f'Kafka at "{endpoint}" is not ready: {doing}: {text}.'
        hint = "Wait until every topic exists and every partition has a leader, then start the same playbook again."
        return DrError("kafka_error", text, hint, endpoint, retriable=True)
    if name in _REFUSED:
        # An idempotent producer without WRITE on any topic is refused on the cluster (KIP-679).
        named = [need for need in needs if need[0] == _REFUSED[name]] or needs
        refusal = f'Kafka at "{endpoint}" refused: {doing}: {text}.'
        return DrError("not_authorized", refusal, missing_right(named, principal, endpoint), endpoint)
    if name == "INVALID_REPLICATION_FACTOR":
        text = f'Kafka at "{endpoint}" refused: {doing}: {text}.'
        return DrError("replication_factor_too_high", text, _FEWER_REPLICAS, endpoint)
    # librdkafka needs a keytab unless it is configured not to log in itself.
    hint = (
        'To use an existing ticket, set "sasl.kerberos.min.time.before.relogin: 0", see docs/kerberos.md.'
        if "sasl.kerberos.kinit.cmd" in text
        else ""
    )
    # Error names that begin with "_" come from librdkafka, not from a broker.
    who = f'The client of Kafka at "{endpoint}" failed' if name.startswith("_") else f'Kafka at "{endpoint}" refused'
    return DrError("kafka_error", f"{who}: {doing}: {text}.", hint, endpoint)


def is_refused(error: KafkaError) -> bool:
    """Whether a broker refused a request because this account lacks a right."""
    return error.name() in _REFUSED


def missing_right(needs: Sequence[Need], principal: str, endpoint: str) -> str:
    """Return the hint for a refusal: who lacks which right, and the command that grants it.

    ``principal``: "" if it is unknown.
    """
    who = principal or "the principal of admin_client"
    if not needs:
        return f"Grant {who} the right that the message names. See docs/rights.md for the complete list."
    kind, name, operation = needs[0]
    where = "the cluster" if kind == "cluster" else f'{kind.replace("_", " ")} "{name}"'
    command = Acl(principal or "User:NAME", kind, name, operation).command(endpoint)
    return f"Grant {who} {operation.upper()} on {where}: {command} (docs/rights.md has the complete list)."
