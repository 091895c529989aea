# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One connection to one Kafka cluster, with errors that say what was wrong.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Any, TypeVar

from .._core.errors import Busy, DrError, LockedOut, Transient, Unreachable
from .._core.resources.topics import TopicState
from .._core.security import librdkafka_properties
from .._files import require_file
from .._guard import require_ownership
from .tls import why_not_trusted

# Methods of AdminClient that change something.
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
        """Proves ownership before each request that changes something, so that none can go without."""

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
except ImportError as error:  # the import sanity test and `ansible-doc` run without the library
    IMPORT_ERROR = error

__all__ = ["Kafka", "connect", "kafka_error"]

T = TypeVar("T")
_FETCH_BYTES = 4_000_000
_UNREACHABLE = "Check that the brokers run, the address, and the client's security settings."
# What is missing where the broker says no, by what it says.
_RIGHTS = {
    "TOPIC_AUTHORIZATION_FAILED": "on these topics DESCRIBE_CONFIGS and READ to look, CREATE, ALTER and ALTER_CONFIGS"
    " to change them, WRITE where it writes",
    "GROUP_AUTHORIZATION_FAILED": "READ and DESCRIBE on these groups",
    "CLUSTER_AUTHORIZATION_FAILED": "on the cluster DESCRIBE and DESCRIBE_CONFIGS to look, CREATE for topics, ALTER for"
    " ACLs",
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
# Brokers elect leaders and load coordinators: the same request succeeds a moment later.
_PASSING = (
    "NOT_LEADER_FOR_PARTITION",
    "LEADER_NOT_AVAILABLE",
    "UNKNOWN_LEADER_EPOCH",
    "FENCED_LEADER_EPOCH",
    "COORDINATOR_LOAD_IN_PROGRESS",
    "COORDINATOR_NOT_AVAILABLE",
    "NOT_COORDINATOR",
    "REBALANCE_IN_PROGRESS",
)
_LOUD_ERRORS = ("_AUTHENTICATION", "_SSL", "_RESOLVE")
# Of layers that each say that they failed, the innermost says why.
# A connection that breaks in the middle of a login is none of these: a broker that dies does that too.
_LOCKED_OUT = re.compile("certificate|invalid credentials|Authentication failed|Kerberos: ")
_GSSAPI = re.compile(r"GSSAPI Error: [^(]*\((.+?)\)(?: \(after .*)?$", re.DOTALL)


class Kafka:
    """Admin, consumer and producer clients of one cluster; counts and lists the admin requests it sent."""

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
        self._config = {
            **properties,
            "bootstrap.servers": bootstrap_servers,
            "error_cb": self._note,
            "logger": _SILENT,
        }
        try:
            self.admin = _GuardedAdmin({"socket.timeout.ms": int(timeout * 1000), **self._config})
        except KafkaException as error:
            raise kafka_error(error, "create a Kafka client", bootstrap_servers) from error
        self.cluster_id = ""
        self.brokers = 0
        # What one look has seen already, see topics.remember(); None: everything is asked afresh.
        self.seen_topics: dict[str, TopicState | None] | None = None
        self.seen_settings: frozenset[str] = frozenset()
        self.seen_starts: dict[tuple[str, int], int] = {}
        self.seen_ends: dict[tuple[str, int], int] = {}

    def _note(self, error: KafkaError) -> None:
        if error.name() in _LOUD_ERRORS:
            self._causes.append(error.str())

    def note_request(self, api: str, **facts: Any) -> None:
        """Write down one admin request (never with secrets): modules return the list as ``requests``."""
        self.requests.append({"api": api, **facts})

    def settle(self, future: Future[T], doing: str) -> T:
        """The result of an admin future; its failure as a :class:`DrError`."""
        try:
            return future.result(timeout=self.timeout + 5)
        except KafkaException as error:
            raise self.explain(error, doing) from error
        except TimeoutError as error:
            raise Unreachable(
                "kafka_unreachable",
                f'Kafka at "{self.bootstrap_servers}" did not answer within {self.timeout:g} s: {doing}.',
                _UNREACHABLE,
                self.bootstrap_servers,
            ) from error

    def explain(self, error: KafkaException, doing: str) -> DrError:
        """``error`` with the cause that librdkafka reports only to its error callback."""
        self.admin.poll(0)
        cause = self._causes[-1] if self._causes else ""
        if "certificate" in cause:
            cause = why_not_trusted(self._config) or cause
        return kafka_error(error, doing, self.bootstrap_servers, cause)

    def identify(self, expected: str | None) -> str:
        """Ask for the cluster id and refuse another than ``expected``. One request."""
        self.note_request("describe_cluster")
        described = self.settle(self.admin.describe_cluster(request_timeout=self.timeout), "describe the cluster")
        self.cluster_id = described.cluster_id or ""
        self.brokers = len(described.nodes)
        if expected and self.cluster_id != expected:
            raise DrError(
                "wrong_cluster",
                f'"{self.bootstrap_servers}" is cluster "{self.cluster_id}", wanted "{expected}".',
                "Correct bootstrap_servers or the cluster id in the inventory.",
                self.bootstrap_servers,
            )
        return self.cluster_id

    def consumer(self, isolation: str = "read_committed", group: str = "kafka-dr-reader", **more: Any) -> Consumer:
        """A consumer for assigned reading: it never commits, never resets by itself, never creates a topic.

        Little is wanted, so a fetch is small. Not by ``queued.min.messages``: with batches of more records than that,
        librdkafka stops fetching some partitions for good.
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
                "fetch.wait.max.ms": 100,
                **more,
            }
        )

    def producer(self, **more: Any) -> Producer:
        """An idempotent producer with acks=all."""
        return Producer({**self._config, "enable.idempotence": True, "acks": "all", **more})


def _require_files(properties: Mapping[str, Any], bootstrap_servers: str) -> None:
    """Every file that librdkafka would read: it reports a missing one as if a broker had refused."""
    owner = f'the client of Kafka at "{bootstrap_servers}"'
    for name in _FILES:
        path = str(properties.get(name) or "")
        # Not a path, but the order to search the usual places.
        if path and (name, path) != ("ssl.ca.location", "probe"):
            require_file(name, path, owner)
    keytab = str(properties.get("sasl.kerberos.keytab") or "")
    # With a relogin time of 0 the ticket is there already, and librdkafka reads no keytab.
    if keytab and str(properties.get("sasl.kerberos.min.time.before.relogin", "")) != "0":
        require_file("sasl.kerberos.keytab", keytab.removeprefix("FILE:"), owner)


class _Silent:
    """Swallows librdkafka's log lines: a module's standard output is its JSON; causes come by ``error_cb``."""

    def log(self, level: int, text: str, *values: Any) -> None:
        """Drop one line."""


_SILENT = _Silent()
_FEWER_REPLICAS = (
    "Use at most as many replicas as this cluster has brokers: replication_factor of the topic in kafka_dr_topics; for"
    " what the flows create, kafka_dr_flow.replication_factor (if not set, 2 for replicas, 3 for internal topics)."
)


def connect(params: Mapping[str, Any]) -> Kafka:
    """Connect with a module's options and prove that it is the wanted cluster before anything else."""
    kafka = Kafka(params["bootstrap_servers"], params.get("client") or {}, float(params["request_timeout"]))
    kafka.identify(params.get("expected_cluster_id"))
    return kafka


def kafka_error(error: KafkaException, doing: str, endpoint: str, cause: str = "") -> DrError:
    """A KafkaException as the collection's error; unreachable clusters are told from refusals."""
    inner = error.args[0] if error.args else None
    name = inner.name() if isinstance(inner, KafkaError) else ""
    text = (inner.str() if isinstance(inner, KafkaError) else str(error)).rstrip(".")
    if "GSSAPI" in text and "No provider" in text:
        return DrError(
            "kerberos_missing",
            "This build of confluent-kafka has no Kerberos (GSSAPI) support.",
            "Build confluent-kafka against a librdkafka with SASL/GSSAPI: docs/kerberos.md says how.",
            endpoint,
        )
    if name in ("_TRANSPORT", "_ALL_BROKERS_DOWN", "_TIMED_OUT", "_RESOLVE", "REQUEST_TIMED_OUT"):
        hint = _UNREACHABLE
        if gssapi := _GSSAPI.search(cause):
            cause = f"Kerberos: {gssapi[1]}"
            hint = "Check keytab, principal, service name, and the ticket (klist): docs/kerberos.md."
        elif "expired" in cause:
            hint = "Renew the certificate of the brokers: no setting of a client cures it."
        because = f" ({cause})" if cause else ""
        said = f'Kafka at "{endpoint}" did not answer: {doing}: {text}{because}.'
        kind = LockedOut if _LOCKED_OUT.search(cause) else Busy if name == "REQUEST_TIMED_OUT" else Unreachable
        return kind("kafka_unreachable", said, hint, endpoint)
    if name in _PASSING:
        text = f'Kafka at "{endpoint}" is not ready: {doing}: {text}.'
        return Transient("kafka_error", text, "It passes by itself once every partition has a leader.", endpoint)
    if name in _RIGHTS:
        hint = f"The principal of admin_client needs {_RIGHTS[name]}: docs/security.md, rights of this collection."
        return DrError("not_authorized", f'Kafka at "{endpoint}" refused: {doing}: {text}.', hint, endpoint)
    if name == "INVALID_REPLICATION_FACTOR":
        text = f'Kafka at "{endpoint}" refused: {doing}: {text}.'
        return DrError("replication_factor_too_high", text, _FEWER_REPLICAS, endpoint)
    # librdkafka wants a keytab unless it is told not to log in by itself.
    hint = (
        'With a ticket that is there already: "sasl.kerberos.min.time.before.relogin: 0", see docs/kerberos.md.'
        if "sasl.kerberos.kinit.cmd" in text
        else ""
    )
    # librdkafka's own errors begin with "_": no broker has refused anything.
    who = f'The client of Kafka at "{endpoint}" failed' if name.startswith("_") else f'Kafka at "{endpoint}" refused'
    return DrError("kafka_error", f"{who}: {doing}: {text}.", hint, endpoint)
