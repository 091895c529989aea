# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the four processes are told: pure text, made from the layout of the lab."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from . import secure
from .ivy import KAFKA_VERSION

ALIASES = ("P", "B")
ENGINES = ("connect", "srm")
MOST_BROKERS = 3
MOST_WORKERS = 2
PARTS = ("broker", "connect")
# In the order of their start. Only the engine srm has a part cm, the emulator of Cloudera Manager. A single broker is
# its own controller; several brokers have one in a process of its own.
EVERY_PART = ("controller", "broker", "broker-2", "broker-3", "connect", "connect-2", "cm")
CONTROLLER_ID = 100
MAINS = {
    "controller": "kafka.Kafka",
    "broker": "kafka.Kafka",
    "connect": "org.apache.kafka.connect.cli.ConnectDistributed",
    "cm": str(Path(__file__).resolve().parent.parent / "cm"),
}
BYTES = "org.apache.kafka.connect.converters.ByteArrayConverter"
LOG4J2 = """rootLogger.level=INFO
rootLogger.appenderRef.c.ref=C
appender.c.type=Console
appender.c.name=C
appender.c.layout.type=PatternLayout
appender.c.layout.pattern=%d{yyyy-MM-dd HH:mm:ss.SSS} %-5p %c{1} %m%n
"""


# A lab for thousands of partitions: a controller that is busy for seconds must not declare its only broker dead. All of
# them would get a leader again, which keeps it busy. The price: after a SIGKILL the broker is back only a minute later.
LARGE_HEAP_MB = 768


@dataclass(frozen=True)
class Settings:
    """What the user may choose; kept in lab.json for the next start."""

    heap_mb: int = 384
    exactly_once: str = "disabled"
    engine: str = "connect"
    # Intervals at which the engine srm looks at its lists; 0: its own default, 600.
    srm_refresh_seconds: int = 0
    # TLS, users with passwords, and rights.
    secure: bool = False
    # Brokers and Connect workers of each cluster.
    brokers: int = 1
    workers: int = 1
    # Kafka versions by alias, the lab's own for those that are not named.
    kafka_versions: Mapping[str, str] = field(default_factory=dict)
    connect_versions: Mapping[str, str] = field(default_factory=dict)

    def version(self, alias: str, part: str) -> str:
        """The Kafka version that a part runs."""
        return (self.connect_versions if kind(part) == "connect" else self.kafka_versions).get(alias, KAFKA_VERSION)

    @property
    def parts(self) -> tuple[str, ...]:
        counts = {"broker": self.brokers, "connect": self.workers, "controller": int(self.brokers > 1)}
        counts["cm"] = int(self.engine == "srm")
        return tuple(part for part in EVERY_PART if number(part) <= counts[kind(part)])


def kind(part: str) -> str:
    """The kind of a part: ``broker-2`` is a ``broker``."""
    return part.split("-", maxsplit=1)[0]


def number(part: str) -> int:
    """The number of a part among those of its kind, from 1."""
    return int(part.partition("-")[2] or 1)


@dataclass(frozen=True)
class Cluster:
    """One cluster: its brokers, their controller, and the Connect workers beside it."""

    alias: str
    folder: Path
    cluster_id: str
    broker_port: int
    controller_port: int
    connect_port: int
    # 0 where the engine is not srm.
    cm_port: int = 0
    # As in Settings.
    secure: bool = field(default=False, kw_only=True)
    # Ports of ``broker-2``, ``connect-2`` and so on.
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
        return {**first, "cm": self.cm_port, **self.more_ports}[part]

    def data(self, part: str) -> Path:
        """The data folder of a broker or a controller."""
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
    return "cm.json" if part == "cm" else f"{part}.properties"


def _roles(cluster: Cluster, part: str) -> dict[str, object]:
    """Roles and listeners of a node: one broker is its own controller, several have one apart."""
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
        # Consumers that name a rack fetch from the replica there.
        "broker.rack": f"rack-{number(part)}",
        "replica.selector.class": "org.apache.kafka.common.replica.RackAwareReplicaSelector",
    }


def broker(cluster: Cluster, part: str = "broker") -> dict[str, object]:
    """A broker, or with ``part`` ``controller`` the controller of several brokers."""
    replicas = len(cluster.brokers)
    in_sync = max(1, replicas - 1)
    return {
        **_roles(cluster, part),
        # A typo in a topic name must fail here, as it does on a well-kept cluster.
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
        # Lets a test wait seconds, not a minute, until a killed consumer has left its group.
        "group.min.session.timeout.ms": 1000,
        # After a SIGKILL the dead registration must expire before the broker may come back.
        "broker.session.timeout.ms": 2000,
        "broker.heartbeat.interval.ms": 500,
        # The default of 128 MiB is taken from a heap that is 384 MiB here.
        "log.cleaner.dedupe.buffer.size": 16 * 1024 * 1024,
    }


def connect(cluster: Cluster, settings: Settings, part: str = "connect") -> dict[str, object]:
    names = _srm_names(cluster) if settings.engine == "srm" else _connect_names(cluster)
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
        # A killed worker's transaction holds up its own offsets topic, and with it the next start, for as long.
        **({"producer.transaction.timeout.ms": 5000} if settings.exactly_once == "enabled" else {}),
        "connector.client.config.override.policy": "All",
        # Looking at the service files only: scanning 94 jars for plugins costs a second or two at each start.
        "plugin.discovery": "service_load",
        # A killed worker's place is free again after this.
        "session.timeout.ms": 6000,
        "heartbeat.interval.ms": 1000,
        "scheduled.rebalance.max.delay.ms": 0,
    }


def _connect_names(cluster: Cluster) -> dict[str, object]:
    name = f"connect-{cluster.alias}"
    storage = {f"{topic}.storage.topic": f"{name}-{topic}s" for topic in ("config", "offset")}
    return {"group.id": name, **storage, "status.storage.topic": f"{name}-status"}


def _srm_names(cluster: Cluster) -> dict[str, object]:
    """Those of dedicated MirrorMaker 2 for the flow to this cluster, so that copied offsets lie where its would."""
    source = next(alias for alias in ALIASES if alias != cluster.alias)
    topics = {"config": "configs", "offset": "offsets", "status": "status"}
    storage = {f"{topic}.storage.topic": f"mm2-{name}.{source}.internal" for topic, name in topics.items()}
    return {"group.id": f"{source}-mm2", **storage}


def secured(cluster: Cluster, part: str) -> dict[str, object]:
    """What a secured lab says on top, and in place of some."""
    found = secure.security(cluster.folder.parent)
    if kind(part) == "connect":
        return secure.connect(found)
    values = secure.broker(found, f"127.0.0.1:{cluster.port(part)}", f"127.0.0.1:{cluster.controller_port}")
    if len(cluster.brokers) == 1:
        return values
    # Each listener belongs to one role: a controller has no listener for clients, a broker none for the quorum.
    client, quorum = str(values["listeners"]).split(",")
    if part == "controller":
        unused = ("advertised.listeners", "inter.broker.listener.name")
        return {**{key: value for key, value in values.items() if key not in unused}, "listeners": quorum}
    return {**values, "listeners": client}


def properties(values: Mapping[str, object]) -> str:
    # In a properties file a backslash begins an escape, in a path it would be part of the name.
    return "".join(f"{key}={str(value).replace(chr(92), chr(92) * 2)}\n" for key, value in values.items())


def render(cluster: Cluster, part: str, settings: Settings) -> str:
    is_worker = kind(part) == "connect"
    values = connect(cluster, settings, part) if is_worker else broker(cluster, part)
    if not is_worker and settings.heap_mb >= LARGE_HEAP_MB:
        values |= {"broker.session.timeout.ms": 60_000, "broker.heartbeat.interval.ms": 2000}
    return properties({**values, **(secured(cluster, part) if settings.secure else {})})


def jvm_options(settings: Settings, root: Path, log4j2: Path, classes: Sequence[str] = ()) -> list[str]:
    """A small heap, the quick compiler only, and every file the JVM may write kept inside the lab."""
    return [
        *classes,
        f"-Xmx{settings.heap_mb}m",
        "-XX:+UseSerialGC",
        "-XX:TieredStopAtLevel=1",
        "-XX:-UsePerfData",
        "-XX:+ExitOnOutOfMemoryError",
        f"-XX:ErrorFile={root / 'logs' / 'hs_err_%p.log'}",
        f"-Djava.io.tmpdir={root / 'tmp'}",
        f"-Dlog4j2.configurationFile={log4j2}",
    ]
