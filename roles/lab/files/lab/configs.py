# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Configuration files of the lab's processes, as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from . import secure, zookeeper
from .ivy import KAFKA_VERSION

ALIASES = ("P", "B")
ENGINES = ("aiven", "connect", "srm")
#: The part with the emulator, by engine. The workers then have the names of dedicated MirrorMaker 2.
EMULATED = {"aiven": "aiven", "srm": "cm"}
MOST_BROKERS = 3
MOST_WORKERS = 2
PARTS = ("broker", "connect")
#: All parts in the order of their start. Only the engines of EMULATED have the part cm or aiven, an emulator. A single
#: broker is its own controller; several brokers have a separate controller process. Brokers of an old version
#: have a ZooKeeper instead.
EVERY_PART = ("zookeeper", "controller", "broker", "broker-2", "broker-3", "connect", "connect-2", "cm", "aiven")
CONTROLLER_ID = 100
MAINS = {
    "zookeeper": zookeeper.MAIN,
    "controller": "kafka.Kafka",
    "broker": "kafka.Kafka",
    "connect": "org.apache.kafka.connect.cli.ConnectDistributed",
    "cm": str(Path(__file__).resolve().parent.parent / "cm"),
    "aiven": str(Path(__file__).resolve().parent.parent / "aiven_api"),
}
BYTES = "org.apache.kafka.connect.converters.ByteArrayConverter"
# The file is read again when it changes, so a test can show what an authorizer allows.
LOG4J2 = """monitorInterval=2
rootLogger.level=INFO
rootLogger.appenderRef.c.ref=C
appender.c.type=Console
appender.c.name=C
appender.c.layout.type=PatternLayout
appender.c.layout.pattern=%d{yyyy-MM-dd HH:mm:ss.SSS} %-5p %c{1} %m%n
"""


#: From this heap size on, the lab is for thousands of partitions and gets longer broker sessions. A controller that is
#: busy for seconds must not declare its only broker dead: electing all leaders again would keep it busy. In exchange,
#: a broker needs a minute to return after a SIGKILL.
LARGE_HEAP_MB = 768


@dataclass(frozen=True)
class Settings:
    """Options of the user, which lab.json stores for the next start."""

    heap_mb: int = 384
    exactly_once: str = "disabled"
    engine: str = "connect"
    #: Seconds between two reads of lists, topics and groups by the engines srm and aiven. 0 keeps the default of 600.
    srm_refresh_seconds: int = 0
    #: Whether the lab has TLS, users with passwords, and ACLs.
    secure: bool = False
    #: Number of brokers in each cluster; ``workers`` is the number of Connect workers.
    brokers: int = 1
    workers: int = 1
    #: Kafka versions by alias. The default is ``KAFKA_VERSION``.
    kafka_versions: Mapping[str, str] = field(default_factory=dict)
    connect_versions: Mapping[str, str] = field(default_factory=dict)

    def version(self, alias: str, part: str) -> str:
        """The Kafka version that a part runs."""
        return (self.connect_versions if kind(part) == "connect" else self.kafka_versions).get(alias, KAFKA_VERSION)

    def zookeeper(self, alias: str) -> bool:
        """Whether the brokers of this cluster store their metadata in ZooKeeper."""
        return zookeeper.is_used(self.version(alias, "broker"))

    def parts_of(self, alias: str) -> tuple[str, ...]:
        """All parts of one cluster in the order of their start."""
        return (*(["zookeeper"] if self.zookeeper(alias) else []), *self.parts)

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts that do not depend on the version of the brokers."""
        counts = {"broker": self.brokers, "connect": self.workers, "controller": int(self.brokers > 1)}
        counts |= {part: int(self.engine == engine) for engine, part in EMULATED.items()} | {"zookeeper": 0}
        return tuple(part for part in EVERY_PART if number(part) <= counts[kind(part)])


def kind(part: str) -> str:
    """Kind of a part: ``broker`` for ``broker-2``."""
    return part.split("-", maxsplit=1)[0]


def number(part: str) -> int:
    """Number of a part among those of its kind, starting at 1."""
    return int(part.partition("-")[2] or 1)


@dataclass(frozen=True)
class Cluster:
    """One cluster: its brokers, their controller, and its Connect workers."""

    alias: str
    folder: Path
    cluster_id: str
    broker_port: int
    controller_port: int
    connect_port: int
    #: Port of the emulator that manages the flows. 0: the engine has none.
    cm_port: int = 0
    #: See ``Settings.secure``.
    secure: bool = field(default=False, kw_only=True)
    #: Ports of the additional parts, ``broker-2``, ``connect-2`` and so on.
    more_ports: Mapping[str, int] = field(default_factory=dict, kw_only=True)

    @property
    def brokers(self) -> tuple[str, ...]:
        """The parts that are brokers."""
        return ("broker", *(part for part in EVERY_PART if part in self.more_ports and kind(part) == "broker"))

    @property
    def workers(self) -> tuple[str, ...]:
        """The parts that are Connect workers."""
        return ("connect", *(part for part in EVERY_PART if part in self.more_ports and kind(part) == "connect"))

    @property
    def bootstrap_servers(self) -> str:
        return ",".join(f"127.0.0.1:{self.port(part)}" for part in self.brokers)

    @property
    def connect_url(self) -> str:
        return self.url("connect")

    def url(self, part: str) -> str:
        """The address of one Connect worker."""
        return f"{'https' if self.secure else 'http'}://127.0.0.1:{self.port(part)}"

    def port(self, part: str) -> int:
        first = {"broker": self.broker_port, "controller": self.controller_port, "connect": self.connect_port}
        # A broker with a ZooKeeper has no controller listener, so its port is free.
        first |= {"zookeeper": self.controller_port, **dict.fromkeys(EMULATED.values(), self.cm_port)}
        return {**first, **self.more_ports}[part]

    def data(self, part: str) -> Path:
        """The data folder of a broker, a controller or a ZooKeeper."""
        return self.folder / ("data" if part == "broker" else f"data-{part}")

    @property
    def cm_url(self) -> str:
        return f"http://127.0.0.1:{self.cm_port}"

    def config_file(self, part: str) -> Path:
        return self.folder / file_name(part)

    @property
    def ports(self) -> tuple[int, ...]:
        found = (self.broker_port, self.controller_port, self.connect_port)
        return (*found, *([self.cm_port] if self.cm_port else []), *self.more_ports.values())


def file_name(part: str) -> str:
    return f"{part}.json" if part in EMULATED.values() else f"{part}.properties"


def _roles(cluster: Cluster, part: str) -> dict[str, object]:
    """Roles and listeners of a node. A single broker is also the controller; several have a separate one."""
    own, controller = (f"127.0.0.1:{cluster.port(name)}" for name in (part, "controller"))
    common = {
        "controller.listener.names": "CONTROLLER",
        "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
        "log.dirs": cluster.data(part),
    }
    if len(cluster.brokers) == 1:
        return {
            **common,
            "process.roles": "broker,controller",
            "node.id": 1,
            "controller.quorum.voters": f"1@{controller}",
            "listeners": f"PLAINTEXT://{own},CONTROLLER://{controller}",
            "advertised.listeners": f"PLAINTEXT://{own}",
        }
    voters = {"controller.quorum.voters": f"{CONTROLLER_ID}@{controller}"}
    if part == "controller":
        roles = {"process.roles": "controller", "node.id": CONTROLLER_ID, "listeners": f"CONTROLLER://{controller}"}
        return {**common, **voters, **roles}
    return {
        **common,
        **voters,
        "process.roles": "broker",
        "node.id": number(part),
        "listeners": f"PLAINTEXT://{own}",
        "advertised.listeners": f"PLAINTEXT://{own}",
        # Consumers with a rack id fetch from the replica in that rack.
        "broker.rack": f"rack-{number(part)}",
        "replica.selector.class": "org.apache.kafka.common.replica.RackAwareReplicaSelector",
    }


def broker(cluster: Cluster, part: str = "broker") -> dict[str, object]:
    """Properties of a broker, or of the controller of several brokers (``part``: ``controller``)."""
    replicas = len(cluster.brokers)
    in_sync = max(1, replicas - 1)
    return {
        **_roles(cluster, part),
        # A misspelled topic name must fail.
        "auto.create.topics.enable": "false",
        "default.replication.factor": replicas,
        "min.insync.replicas": in_sync,
        "offsets.topic.replication.factor": replicas,
        "offsets.topic.num.partitions": 1,
        "transaction.state.log.replication.factor": replicas,
        "transaction.state.log.min.isr": in_sync,
        "transaction.state.log.num.partitions": 1,
        "transaction.abort.timed.out.transaction.cleanup.interval.ms": 1000,
        "share.coordinator.state.topic.replication.factor": replicas,
        "share.coordinator.state.topic.min.isr": in_sync,
        "group.initial.rebalance.delay.ms": 0,
        # Lets a killed consumer leave its group within seconds, not a minute.
        "group.min.session.timeout.ms": 1000,
        # After a SIGKILL the broker can return only when its old registration has expired.
        "broker.session.timeout.ms": 2000,
        "broker.heartbeat.interval.ms": 500,
        # The default of 128 MiB is too large for a heap of 384 MiB.
        "log.cleaner.dedupe.buffer.size": 16 * 1024 * 1024,
    }


def connect(cluster: Cluster, settings: Settings, part: str = "connect") -> dict[str, object]:
    names = _dedicated_names(cluster) if settings.engine in EMULATED else _connect_names(cluster)
    return {
        "bootstrap.servers": cluster.bootstrap_servers,
        **names,
        "listeners": cluster.url(part),
        "rest.advertised.host.name": "127.0.0.1",
        **{f"{name}.storage.replication.factor": len(cluster.brokers) for name in ("config", "offset", "status")},
        "offset.storage.partitions": 1,
        "status.storage.partitions": 1,
        "offset.flush.interval.ms": 1000,
        **{f"{name}.converter": BYTES for name in ("key", "value", "header")},
        "exactly.once.source.support": settings.exactly_once,
        # The open transaction of a killed worker blocks its offsets topic, and so the next start, for this time.
        **({"producer.transaction.timeout.ms": 5000} if settings.exactly_once == "enabled" else {}),
        "connector.client.config.override.policy": "All",
        # Reads service files only: scanning 94 jars for plugins takes a second or two at each start.
        "plugin.discovery": "service_load",
        # A killed worker leaves the group after this time.
        "session.timeout.ms": 6000,
        "heartbeat.interval.ms": 1000,
        "scheduled.rebalance.max.delay.ms": 0,
    }


def worker_group(cluster: Cluster, settings: Settings) -> str:
    """``group.id`` of the workers of a cluster."""
    names = _dedicated_names(cluster) if settings.engine in EMULATED else _connect_names(cluster)
    return str(names["group.id"])


def _connect_names(cluster: Cluster) -> dict[str, object]:
    name = f"connect-{cluster.alias}"
    storage = {f"{topic}.storage.topic": f"{name}-{topic}s" for topic in ("config", "offset")}
    return {"group.id": name, **storage, "status.storage.topic": f"{name}-status"}


def _dedicated_names(cluster: Cluster) -> dict[str, object]:
    """Group and topics as dedicated MirrorMaker 2 names them for the flow to this cluster."""
    source = next(alias for alias in ALIASES if alias != cluster.alias)
    topics = {"config": "configs", "offset": "offsets", "status": "status"}
    storage = {f"{topic}.storage.topic": f"mm2-{name}.{source}.internal" for topic, name in topics.items()}
    return {"group.id": f"{source}-mm2", **storage}


def secured(cluster: Cluster, part: str) -> dict[str, object]:
    """Properties that a secured lab adds or overrides."""
    found = secure.security(cluster.folder.parent)
    if kind(part) == "connect":
        return secure.connect(found)
    # With several brokers each listener has one role: controllers have no client listener, brokers no quorum listener.
    alone = len(cluster.brokers) == 1
    return secure.broker(
        found,
        None if part == "controller" else f"127.0.0.1:{cluster.port(part)}",
        f"127.0.0.1:{cluster.controller_port}" if alone or part == "controller" else None,
    )


def properties(values: Mapping[str, object]) -> str:
    # A backslash starts an escape in a properties file, but may be part of a path.
    return "".join(f"{key}={str(value).replace(chr(92), chr(92) * 2)}\n" for key, value in values.items())


def render(cluster: Cluster, part: str, settings: Settings) -> str:
    is_worker = kind(part) == "connect"
    if part == "zookeeper":
        return properties(zookeeper.server(cluster.data(part), cluster.port(part)))
    values = connect(cluster, settings, part) if is_worker else broker(cluster, part)
    if not is_worker and settings.zookeeper(cluster.alias):
        return properties(
            zookeeper.broker(values, f"127.0.0.1:{cluster.port(part)}", f"127.0.0.1:{cluster.port('zookeeper')}")
        )
    if not is_worker and settings.heap_mb >= LARGE_HEAP_MB:
        values |= {"broker.session.timeout.ms": 60_000, "broker.heartbeat.interval.ms": 2000}
    return properties({**values, **(secured(cluster, part) if settings.secure else {})})


def jvm_options(settings: Settings, root: Path, log4j2: Path, classes: Sequence[str] = ()) -> list[str]:
    """JVM options: a small heap, the C1 compiler only, and all JVM output files inside the lab.

    With thousands of partitions, loops over the partitions of each fetch need the C2 compiler.
    """
    return [
        *classes,
        f"-Xmx{settings.heap_mb}m",
        "-XX:+UseSerialGC",
        *([] if settings.heap_mb >= LARGE_HEAP_MB else ["-XX:TieredStopAtLevel=1"]),
        "-XX:-UsePerfData",
        "-XX:+ExitOnOutOfMemoryError",
        f"-XX:ErrorFile={root / 'logs' / 'hs_err_%p.log'}",
        f"-Djava.io.tmpdir={root / 'tmp'}",
        f"-Dlog4j2.configurationFile={log4j2}",
    ]
