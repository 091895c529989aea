# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the four processes are told: pure text, made from the layout of the lab."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from . import secure

ALIASES = ("P", "B")
ENGINES = ("connect", "srm")
# In the order of their start. Only the engine srm has a part cm, the emulator of Cloudera Manager.
PARTS = ("broker", "connect")
EVERY_PART = (*PARTS, "cm")
MAINS = {
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

    @property
    def parts(self) -> tuple[str, ...]:
        return EVERY_PART if self.engine == "srm" else PARTS


@dataclass(frozen=True)
class Cluster:
    """One cluster: a broker that is its own controller, and the Connect worker beside it."""

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

    @property
    def bootstrap_servers(self) -> str:
        return f"127.0.0.1:{self.broker_port}"

    @property
    def connect_url(self) -> str:
        return f"{'https' if self.secure else 'http'}://127.0.0.1:{self.connect_port}"

    @property
    def cm_url(self) -> str:
        return f"http://127.0.0.1:{self.cm_port}"

    def config_file(self, part: str) -> Path:
        return self.folder / file_name(part)

    @property
    def ports(self) -> tuple[int, ...]:
        found = (self.broker_port, self.controller_port, self.connect_port)
        return (*found, self.cm_port) if self.cm_port else found


def file_name(part: str) -> str:
    return "cm.json" if part == "cm" else f"{part}.properties"


def broker(cluster: Cluster) -> dict[str, object]:
    own = f"127.0.0.1:{cluster.broker_port}"
    controller = f"127.0.0.1:{cluster.controller_port}"
    return {
        "process.roles": "broker,controller",
        "node.id": 1,
        "controller.quorum.voters": f"1@{controller}",
        "listeners": f"PLAINTEXT://{own},CONTROLLER://{controller}",
        "advertised.listeners": f"PLAINTEXT://{own}",
        "controller.listener.names": "CONTROLLER",
        "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
        "log.dirs": cluster.folder / "data",
        # A typo in a topic name must fail here, as it does on a well-kept cluster.
        "auto.create.topics.enable": "false",
        "offsets.topic.replication.factor": 1,
        "offsets.topic.num.partitions": 1,
        "transaction.state.log.replication.factor": 1,
        "transaction.state.log.min.isr": 1,
        "transaction.state.log.num.partitions": 1,
        "transaction.abort.timed.out.transaction.cleanup.interval.ms": 1000,
        "share.coordinator.state.topic.replication.factor": 1,
        "share.coordinator.state.topic.min.isr": 1,
        "group.initial.rebalance.delay.ms": 0,
        # Lets a test wait seconds, not a minute, until a killed consumer has left its group.
        "group.min.session.timeout.ms": 1000,
        # After a SIGKILL the dead registration must expire before the broker may come back.
        "broker.session.timeout.ms": 2000,
        "broker.heartbeat.interval.ms": 500,
        # The default of 128 MiB is taken from a heap that is 384 MiB here.
        "log.cleaner.dedupe.buffer.size": 16 * 1024 * 1024,
    }


def connect(cluster: Cluster, settings: Settings) -> dict[str, object]:
    names = _srm_names(cluster) if settings.engine == "srm" else _connect_names(cluster)
    return {
        "bootstrap.servers": cluster.bootstrap_servers,
        **names,
        "listeners": cluster.connect_url,
        "rest.advertised.host.name": "127.0.0.1",
        **{f"{kind}.storage.replication.factor": 1 for kind in ("config", "offset", "status")},
        "offset.storage.partitions": 1,
        "status.storage.partitions": 1,
        "offset.flush.interval.ms": 1000,
        **{f"{kind}.converter": BYTES for kind in ("key", "value", "header")},
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
    storage = {f"{kind}.storage.topic": f"{name}-{kind}s" for kind in ("config", "offset")}
    return {"group.id": name, **storage, "status.storage.topic": f"{name}-status"}


def _srm_names(cluster: Cluster) -> dict[str, object]:
    """Those of dedicated MirrorMaker 2 for the flow to this cluster, so that copied offsets lie where its would."""
    source = next(alias for alias in ALIASES if alias != cluster.alias)
    topics = {"config": "configs", "offset": "offsets", "status": "status"}
    storage = {f"{kind}.storage.topic": f"mm2-{name}.{source}.internal" for kind, name in topics.items()}
    return {"group.id": f"{source}-mm2", **storage}


def secured(cluster: Cluster, part: str) -> dict[str, object]:
    """What a secured lab says on top, and in place of some."""
    found = secure.security(cluster.folder.parent)
    if part == "connect":
        return secure.connect(found)
    return secure.broker(found, f"127.0.0.1:{cluster.broker_port}", f"127.0.0.1:{cluster.controller_port}")


def properties(values: Mapping[str, object]) -> str:
    # In a properties file a backslash begins an escape, in a path it would be part of the name.
    return "".join(f"{key}={str(value).replace(chr(92), chr(92) * 2)}\n" for key, value in values.items())


def render(cluster: Cluster, part: str, settings: Settings) -> str:
    values = broker(cluster) if part == "broker" else connect(cluster, settings)
    if part == "broker" and settings.heap_mb >= LARGE_HEAP_MB:
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
