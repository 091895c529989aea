# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One pair under load: lab, applications and playbooks, driven as a user drives them."""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from kube_lab import KubeLab

ROOT = Path(__file__).resolve().parents[2]
LEDGER = ROOT / "roles" / "lab" / "files" / "ledger"
COLLECTION = "switchback.kafka_dr"
# What a lab has in front of its workers, by engine.
EMULATORS = {
    "aiven": ", emulators of Aiven's API in front",
    "srm": ", emulators of Cloudera Manager in front",
    "strimzi": ", a Kubernetes API server and emulators of the operator in front",
}


class ScenarioError(Exception):
    """A step failed. The text names the step and its output file."""


@dataclass
class Scenario:
    """A lab in ``folder`` with ledger clients. ``say`` gets one line for each step."""

    # Checks the reports of each playbook: the tests validate them with packages that the demo does not install.
    inspect: ClassVar[Callable[[Path, float], None]] = staticmethod(lambda _folder, _since: None)

    folder: Path
    partitions: int = 12
    clients: list[dict[str, Any]] = field(default_factory=list)
    # As in the inventory. The default is one topic, Payments.
    topics: list[dict[str, Any]] = field(default_factory=list)
    policy: str = "default"
    # Settings of both flows, as kafka_dr_flow. The default is that of the lab role.
    flow: dict[str, Any] = field(default_factory=dict)
    engine: str = "connect"
    exactly_once: bool = False
    secure: bool = False
    # Of each cluster.
    brokers: int = 1
    workers: int = 1
    # Kafka versions of brokers and of Connect workers, by alias.
    kafka_versions: dict[str, str] = field(default_factory=dict)
    connect_versions: dict[str, str] = field(default_factory=dict)
    # Variables of each playbook, such as those of login().
    variables: dict[str, Any] = field(default_factory=dict)
    # The number of v's in -vvv: the output must not have a secret at that level either.
    verbosity: int = 0
    # Use the callback plugin console, and pass its lines to ``say`` as they come.
    console: bool = False
    say: Callable[[str], None] = lambda text: print(text, flush=True)

    def __post_init__(self) -> None:
        self.folder = self.folder.resolve()
        self.clients = [dict(client) for client in self.clients]
        self.logs = self.folder / "playbooks"
        self.logs.mkdir(parents=True, exist_ok=True)
        self.reports = self.folder / "reports"
        self._runs = 0
        self.kubernetes = self._kubernetes() if self.engine == "strimzi" else None

    def _kubernetes(self) -> KubeLab:
        from kube_lab import KubeLab

        return KubeLab(self.folder / "kubernetes")

    @property
    def inventory(self) -> Path:
        """The inventory, which the lab role writes."""
        return self.folder / "inventory"

    # ---- playbooks

    def login(self, user: str) -> dict[str, Any]:
        """Variables with which playbooks log in to a secured lab as ``user``, and not as a super user."""
        import yaml

        clusters: dict[str, Any] = yaml.safe_load((self.inventory / "group_vars/all/kafka_dr.yml").read_text())[
            "kafka_dr_clusters"
        ]
        for cluster in clusters.values():
            own = cluster["admin_client"]
            own |= {"sasl.username": user, "sasl.password": own["sasl.password"].replace("'admin'", f"'{user}'")}
        return {"kafka_dr_clusters": clusters}

    def environment(self) -> dict[str, str]:
        """The variables that a user sets to run the collection from a checkout."""
        return {
            **os.environ,
            "ANSIBLE_COLLECTIONS_PATH": str(ROOT / "build" / "collections"),
            "ANSIBLE_HOME": str(self.folder / "ansible"),
            "ANSIBLE_NOCOLOR": "1",
            # A controller's clock is rarely in UTC: code that takes its local time for UTC is hours off.
            **({"ANSIBLE_STDOUT_CALLBACK": f"{COLLECTION}.console"} if self.console else {"TZ": "America/New_York"}),
            "ANSIBLE_VERBOSITY": str(self.verbosity),
            "ANSIBLE_LOCALHOST_WARNING": "false",
            "ANSIBLE_INVENTORY_UNPARSED_WARNING": "false",
        }

    def playbook(
        self,
        name: str,
        variables: Mapping[str, Any] | None = None,
        options: tuple[str, ...] = (),
        expect: int | None = 0,
    ) -> dict[str, Any]:
        """Run one playbook of the collection. Return rc, seconds, changed, log and output."""
        self._runs += 1
        log = self.logs / f"{self._runs:02d}-{name}.log"
        command = [str(Path(sys.executable).parent / "ansible-playbook"), f"{COLLECTION}.{name}", *options]
        if self.inventory.exists():
            command += ["-i", str(self.inventory)]
        # The audit takes as long as a cutover, and has tests of its own.
        own = {"kafka_dr_report_dir": str(self.reports), "kafka_dr_audit": False}
        command += ["-e", json.dumps({**own, **self.variables, **(variables or {})})]
        real = self._real_reports()
        began = time.monotonic()
        rc = self._run(command, log)
        seconds = time.monotonic() - began
        Scenario.inspect(self.reports, time.time() - seconds)
        text = log.read_text()
        if "--check" in options and self._real_reports() != real:
            raise ScenarioError(f"{name} --check has changed the report of a real run; see {log}")
        if expect is not None and rc != expect:
            raise ScenarioError(f"{name} ended with {rc}, wanted {expect}; see {log}\n{_tail(text)}")
        return {"rc": rc, "seconds": seconds, "changed": _changed(text), "log": str(log), "output": text}

    def _run(self, command: list[str], log: Path) -> int:
        with (
            log.open("w") as output,
            subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=self.environment(), text=True
            ) as process,
        ):
            assert process.stdout is not None
            for line in process.stdout:
                output.write(line)
                if self.console:
                    self.say(f"    {line.rstrip()}")
        return process.returncode

    def _real_reports(self) -> dict[str, bytes]:
        """The reports of real runs and their pages, by path."""
        files = [path for ext in ("json", "html") for path in self.reports.glob(f"*.{ext}")]
        latest = self.reports / "latest-move"
        files += [latest / "report.json", latest / "page.html"] if latest.exists() else []
        checks = ("check-", "index.")
        return {str(path): path.read_bytes() for path in files if not path.name.startswith(checks)}

    def plan(self, name: str) -> dict[str, list[dict[str, Any]]]:
        """The changes that the last check run showed, by kind. Its page must exist as well."""
        planned = json.loads((self.reports / f"check-{name}.json").read_text())
        if not (self.reports / f"check-{name}.html").read_text().startswith("<!DOCTYPE html>"):
            raise ScenarioError(f"check-{name}.html is no page")
        found: dict[str, list[dict[str, Any]]] = {}
        for row in planned["changes"]:
            found.setdefault(row["kind"], []).append(row)
        return found

    def lab_up(self) -> None:
        """Start two clusters and two Connect workers, and write the inventory."""
        payments = {"name": "Payments", "partitions": self.partitions, "replication_factor": self.brokers}
        topics = self.topics or [payments]
        old = (self.folder / "lab.json").exists()
        variables = {"lab_dir": str(self.folder), "lab_topics": topics, "lab_fresh": old, "lab_policy": self.policy}
        # An operator drives ordinary workers, and the API server is built from Go, so neither belongs to the lab role.
        variables["lab_engine"] = "connect" if self.kubernetes else self.engine
        variables |= {"lab_exactly_once": "enabled"} if self.exactly_once else {}
        variables |= {"lab_secure": True} if self.secure else {}
        variables |= {"lab_brokers": self.brokers, "lab_workers": self.workers}
        variables |= {"lab_kafka_version": self.kafka_versions, "lab_connect_version": self.connect_versions}
        variables |= {"lab_flow": self.flow} if self.flow else {}
        if self.clients:
            variables["lab_clients"] = self.clients
        done = self.playbook("lab_up", variables)
        if self.kubernetes:
            self.kubernetes.up(self.inventory, json.loads((self.folder / "lab.json").read_text()))
        more = EMULATORS.get(self.engine, "")
        self.say(f"lab: two Kafka clusters and two Connect workers{more} are up ({done['seconds']:.0f} s)")

    def lab_down(self) -> None:
        """Stop everything that the lab started."""
        try:
            self.playbook("lab_down", {"lab_dir": str(self.folder)})
        finally:
            if self.kubernetes:
                self.kubernetes.close()

    @contextmanager
    def up(self) -> Iterator[Scenario]:
        """Run the lab within the context. It is stopped at the end in every case."""
        try:
            self.lab_up()
            yield self
        finally:
            self.lab_down()

    def move(self, name: str, to: str, **variables: Any) -> dict[str, Any]:
        """Run a cutover playbook and return its report, with the downtimes from the ledgers under ``downtime``."""
        done = self.playbook(name, {"kafka_dr_confirm": to, "kafka_dr_to": to, **variables})
        kind = variables.get("kafka_dr_type", "cutoff") if name == "failback" else name.removeprefix("failover_")
        report = self.report(kind, to)
        report["playbook_s"] = round(done["seconds"], 1)
        return report

    def report(self, kind: str, to: str, link: str = "latest") -> dict[str, Any]:
        """The newest report of a cutover; with ``latest-move`` of a run that may have moved something."""
        report: dict[str, Any] = json.loads((self.reports / link / "report.json").read_text())
        if (report["type"], report["to"]) != (kind, to):
            raise ScenarioError(f"the newest report is of {report['type']} to {report['to']}, wanted {kind} to {to}")
        return report

    def verify(self) -> dict[str, Any]:
        """Run the audit and return its report, also if the audit is not PROVEN."""
        self.playbook("verify", expect=None)
        path = self.reports / "audit.json"
        if not path.exists():
            raise ScenarioError("the playbook verify wrote no report")
        audit: dict[str, Any] = json.loads(path.read_text())
        return audit

    # ---- applications

    def ledger(self, *words: str, expect: tuple[int, ...] = (0,)) -> str:
        """Run the ledger program and return its standard output."""
        command = [sys.executable, str(LEDGER), *words, "--dir", str(self.folder / "ledger")]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode not in expect:
            raise ScenarioError(f"ledger {' '.join(words)} ended with {done.returncode}: {done.stdout}{done.stderr}")
        return done.stdout

    def names(self, *roles: str) -> list[str]:
        """The clients with a role, or all clients."""
        known = json.loads((self.folder / "ledger" / "clients.json").read_text())["clients"]
        return [name for name, client in known.items() if not roles or client["role"] in roles]

    def start(self) -> None:
        """Start consumers, then producers."""
        self._all("start", self.names("consumer", "processor"))
        self._all("start", self.names("producer", "transactional"))

    def stop(self, seconds: float = 60) -> None:
        """Stop producers, let the consumers read all records, for at most ``seconds`` each, and stop them."""
        self._all("stop", self.names("producer", "transactional"))
        for role in ("processor", "consumer"):  # These may read records that a processor writes.
            self._all("stop", self.names(role), "--read", str(seconds))

    def _all(self, verb: str, names: list[str], *options: str) -> None:
        with ThreadPoolExecutor() as pool:
            list(pool.map(lambda name: self.ledger(verb, name, *options), names))

    def count(self, what: str) -> int:
        """The sum of one count over all clients that have it."""
        clients: list[dict[str, Any]] = list(json.loads(self.ledger("status"))["clients"].values())
        return sum(client["counts"].get(what, 0) for client in clients)

    def slowest_reader(self) -> int:
        """The number of records that the slowest consumer has processed. One that has just started has no count yet."""
        clients = json.loads(self.ledger("status"))["clients"]
        return min(int(clients[name]["counts"].get("processed", 0)) for name in self.names("consumer"))

    def wait(self, done: Callable[[], bool], seconds: float, what: str) -> None:
        """Wait for a condition, with a timeout."""
        until = time.monotonic() + seconds
        while not done():
            if time.monotonic() > until:
                raise ScenarioError(f"Waited {seconds:g} s, in vain: {what}.")
            time.sleep(0.2)

    def traffic(self, records: int) -> None:
        """Wait until this many more records are acknowledged and processed."""
        wanted = self.count("acknowledged") + records
        self.wait(lambda: self.count("acknowledged") >= wanted, 120, f"{records} more records are acknowledged")
        self.wait(lambda: self.slowest_reader() >= wanted - records // 2, 120, "consumers follow")

    def check(self, began: float | None = None, ended: float | None = None) -> dict[str, Any]:
        """Compare the ledgers. Gaps count within the window (epoch seconds)."""
        target = self.folder / "check.json"
        window = []
        for word, moment in (("--from", began), ("--to", ended)):
            window += [] if moment is None else [word, str(int(moment * 1e6))]
        self.ledger("check", "--json", str(target), *window, expect=(0, 1, 2))
        result: dict[str, Any] = json.loads(target.read_text())
        return result

    def require_unharmed(self) -> dict[str, int]:
        """Return the counts of the ledgers. Raise if a record was lost, processed twice or out of order."""
        counted = totals(self.check())
        if counted["lost"] or counted["processed_twice"] or counted["out_of_order"]:
            raise ScenarioError(f"The figures do not count, records were harmed: {counted}")
        return counted

    def downtime(self, report: Mapping[str, Any]) -> dict[str, float | None]:
        """The longest gaps within a run: of acknowledgements, and of each group's processing (the longest)."""
        began, ended = (_epoch(report[key]) for key in ("began", "ended"))
        gaps = self.check(began, ended)["gaps"]
        read = [gap["seconds"] if gap else math.nan for gap in gaps["groups"].values()]
        write = gaps["acknowledged"]
        return {
            "write_downtime_s": round(write["seconds"], 3) if write else None,
            "read_downtime_s": None if not read or any(map(math.isnan, read)) else round(max(read), 3),
        }


def totals(check: Mapping[str, Any]) -> dict[str, int]:
    """The counts of a check over all groups."""
    groups = check["groups"].values()
    summed = {
        key: sum(group[key] for group in groups) for key in ("lost", "processed_twice", "phantom", "out_of_order")
    }
    return {
        "acknowledged": check["totals"]["acknowledged"],
        "unknown": check["totals"]["unknown"],
        "groups": len(check["groups"]),
        "processed": sum(group["processed"] for group in groups),
        **summed,
    }


def _epoch(stamp: str) -> float:
    from datetime import datetime

    return datetime.fromisoformat(stamp).timestamp()


def _changed(output: str) -> int | None:
    # From the recap of Ansible, or of the callback plugin console.
    counts = re.findall(r"\bchanged=(\d+)|^\S+: ok \d+, changed (\d+),", output, re.MULTILINE)
    return sum(int(one or other) for one, other in counts) if counts else None


def _tail(text: str, lines: int = 25) -> str:
    return "\n".join(text.splitlines()[-lines:])
