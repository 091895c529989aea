# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Two clusters that require a Kerberos ticket, and the Connect worker of B, which authenticates with a keytab.

They are configured like those of the lab, plus the settings that Kerberos needs.
"""

from __future__ import annotations

import shutil
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from lab import archives, configs, jars, probes, processes
from lab.configs import ALIASES, Cluster, Settings
from lab.files import write_atomically
from lab.java import Java, find_java
from lab.layout import Layout, layout, new_cluster_id
from lab.ports import choose
from lab.progress import Progress
from realm import HOST, SERVICE, Realm

BROKER, WORKER, OPERATOR = f"{SERVICE}/{HOST}", f"connect/{HOST}", "operator"
# In seconds, as in the lab.
BOUND = 180.0
PARTS = (("P", "broker"), ("B", "broker"), ("B", "connect"))


@dataclass
class Kerberized:
    """The realm, the clusters and their logs, all in one folder."""

    paths: Layout
    realm: Realm
    clusters: dict[str, Cluster]
    java: Java = field(default_factory=find_java)
    settings: Settings = field(default_factory=Settings)

    def servers(self, alias: str) -> str:
        """The addresses with the name in the brokers' principal, not the IP address."""
        return f"{HOST}:{self.clusters[alias].broker_port}"

    def client(self, principal: str = OPERATOR) -> dict[str, str]:
        return self.realm.client(principal)

    def rdkafka(self, alias: str) -> dict[str, Any]:
        """The properties of a client in this process."""
        own = {name: value for name, value in self.client().items() if not name.startswith("java.")}
        return {**own, "bootstrap.servers": self.servers(alias)}

    # ---- start and stop -------------------------------------------------------------------------------------

    def start(self) -> None:
        progress = Progress()
        self.realm.start((OPERATOR, BROKER, WORKER))
        progress.say(f"KDC of {self.realm.folder} gives tickets")
        folder, _downloaded = jars.ensure_jars(jars.default_cache(), self.java, progress)
        classes = archives.ensure(folder, self.java, self.settings, progress)
        (self.paths.root / "tmp").mkdir()
        write_atomically(self.paths.log4j2, configs.LOG4J2)
        for alias, name in PARTS:
            cluster, part = self.clusters[alias], self.paths.part(alias, name)
            write_atomically(part.config, self.properties(alias, name))
            options = configs.jvm_options(self.settings, self.paths.root, self.paths.log4j2, classes(name))
            java = [self.java.program, *options, *self.realm.java_options, "-cp", f"{folder}/*"]
            if name == "broker":
                words = ("kafka.tools.StorageTool", "format", "-t", cluster.cluster_id, "-c", str(part.config))
                subprocess.run([*java, *words], check=True, capture_output=True, timeout=BOUND)
            processes.spawn(part, [*java, part.main, str(part.config)])
        for key in PARTS:
            self._await(*key)
            progress.say(f"{' '.join(key)} ready")

    def stop(self) -> None:
        """Stop the processes, including those of an earlier run that was killed."""
        parts = [self.paths.part(*key) for key in reversed(PARTS)]
        for part in parts:
            processes.adopt_strays(part)
        try:
            # The worker first: without its broker it would try to leave its group until it is killed.
            for part in parts:
                processes.stop([part], 15.0)
        finally:
            processes.kill(parts)
            self.realm.stop()

    def _await(self, alias: str, name: str) -> None:
        part, cluster = self.paths.part(alias, name), self.clusters[alias]
        end = time.monotonic() + BOUND
        while not (self._serves(alias) if name == "broker" else probes.connect_is_ready(cluster, "connect", None)):
            assert not processes.gone(part), f"{part.name} ended:\n{processes.tail(part.log)}"
            assert time.monotonic() < end, f"{part.name} gave no right answer:\n{processes.tail(part.log)}"
            time.sleep(0.1)

    def _serves(self, alias: str) -> bool:
        if not probes.answers(self.clusters[alias].broker_port):
            return False
        admin = AdminClient({**self.rdkafka(alias), "log_level": 0})
        try:
            return bool(admin.list_topics(timeout=5).cluster_id)
        except KafkaException:
            return False

    # ---- configuration of the processes ---------------------------------------------------------------------

    def properties(self, alias: str, name: str) -> str:
        cluster = self.clusters[alias]
        if name == "broker":
            return configs.properties({**configs.broker(cluster), **self._broker(cluster)})
        return configs.properties({**configs.connect(cluster, self.settings), **self._connect(alias)})

    def _broker(self, cluster: Cluster) -> dict[str, object]:
        controller = f"127.0.0.1:{cluster.controller_port}"
        return {
            "listeners": f"SASL_PLAINTEXT://127.0.0.1:{cluster.broker_port},CONTROLLER://{controller}",
            "advertised.listeners": f"SASL_PLAINTEXT://{self.servers(cluster.alias)}",
            "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT",
            "inter.broker.listener.name": "SASL_PLAINTEXT",
            "sasl.enabled.mechanisms": "GSSAPI",
            "sasl.mechanism.inter.broker.protocol": "GSSAPI",
            "sasl.kerberos.service.name": SERVICE,
            "listener.name.sasl_plaintext.gssapi.sasl.jaas.config": self.realm.login(BROKER),
        }

    def _connect(self, alias: str) -> dict[str, object]:
        client = {
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": "GSSAPI",
            "sasl.kerberos.service.name": SERVICE,
            "sasl.jaas.config": self.realm.login(WORKER),
        }
        inner = {f"{kind}.{key}": value for kind in ("producer", "consumer", "admin") for key, value in client.items()}
        return {"bootstrap.servers": self.servers(alias), **client, **inner}


def kerberized(folder: Path) -> Kerberized:
    """Start everything in an empty folder, after stopping processes of an earlier run there."""
    paths = layout(folder)
    kdc, *others = choose(paths.root, 7)
    clusters = {}
    for index, alias in enumerate(ALIASES):
        broker, controller, worker = others[index * 3 : index * 3 + 3]
        clusters[alias] = Cluster(alias, paths.root / alias, new_cluster_id(), broker, controller, worker)
    found = Kerberized(paths, Realm(paths.root / "kdc", kdc), clusters)
    found.stop()
    shutil.rmtree(paths.root, ignore_errors=True)
    paths.root.mkdir(parents=True)
    return found
