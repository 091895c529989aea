# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lab as a program and as playbooks: it starts, repairs itself after a crash, and leaves no
process when it stops.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from confluent_kafka import Producer
from confluent_kafka.admin import NewTopic

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.inventory.pair import derive_pair
from brokers import admin
from lab import probes, processes
from lab.errors import LabError
from lab.lab import Lab

pytestmark = [pytest.mark.integration, pytest.mark.timeout(600)]

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("P broker", "P connect", "B broker", "B connect")


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A lab that these tests may damage. Its path has a space."""
    found = Lab(tmp_path_factory.mktemp("own lab") / "lab")
    found.up()
    yield found
    found.down()


def program(lab: Lab, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "roles" / "lab" / "files" / "lab"), *arguments, "--dir", str(lab.paths.root)]
    environ = {**os.environ, **environment}
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, env=environ)


def pids(lab: Lab) -> dict[str, int | None]:
    clusters = lab.info()["clusters"]
    return {f"{alias} {part}": pid for alias in clusters for part, pid in clusters[alias]["pids"].items()}


def processes_of(lab: Lab) -> list[int]:
    """The processes with the folder in their command line, independent of the lab's own files."""
    root = str(lab.paths.root)
    found = (int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit())
    return [pid for pid in found if any(root in argument for argument in processes.arguments_of(pid))]


def cluster_id(lab: Lab, alias: str) -> str:
    client = admin(lab, alias)
    found: str = client.describe_cluster().result(10).cluster_id
    return found


def test_both_clusters_return_their_own_ids(own: Lab) -> None:
    clusters = own.info()["clusters"]
    found = {alias: cluster_id(own, alias) for alias in clusters}
    assert found == {alias: clusters[alias]["cluster_id"] for alias in clusters}
    assert found["P"] != found["B"]


def test_each_worker_uses_its_own_cluster(own: Lab) -> None:
    for cluster in own.info()["clusters"].values():
        about = probes.get_json(cluster["ports"][2], "/")
        assert about["kafka_cluster_id"] == cluster["cluster_id"]
        assert probes.get_json(cluster["ports"][2], "/connectors") == []


def test_the_workers_have_mirrormaker_2(own: Lab) -> None:
    found = probes.get_json(own.info()["clusters"]["B"]["ports"][2], "/connector-plugins")
    names = {item["class"].rpartition(".")[2] for item in found}
    assert {"MirrorSourceConnector", "MirrorCheckpointConnector", "MirrorHeartbeatConnector"} <= names


def test_a_running_lab_is_not_restarted(own: Lab) -> None:
    before = pids(own)
    done = program(own, "up")
    assert done.returncode == 0
    assert json.loads(done.stdout)["changed"] is False
    assert "already runs" in done.stderr
    assert pids(own) == before


def test_the_lab_needs_less_than_1_8_gib(own: Lab) -> None:
    used = own.status()["rss_mib"]
    assert used is not None
    assert used < 1.8 * 1024


def test_no_process_listens_on_any_other_address(own: Lab) -> None:
    """127.0.0.2 is this machine too: only a listener on all addresses would accept a connection there."""
    for cluster in own.info()["clusters"].values():
        for port in cluster["ports"]:
            for address, answers in (("127.0.0.1", True), ("127.0.0.2", False)):
                with socket.socket() as probe:
                    probe.settimeout(2)
                    assert (probe.connect_ex((address, port)) == 0) is answers


@pytest.mark.parametrize(("alias", "part"), [("P", "broker"), ("B", "connect")])
def test_after_a_crash_only_the_missing_part_is_started(own: Lab, alias: str, part: str) -> None:
    before = pids(own)
    assert own.kill(alias, part)
    assert own.info()["clusters"][alias]["pids"][part] is None
    assert own.up() == [f"{alias} {part}"]
    after = pids(own)
    assert {name for name in PARTS if after[name] != before[name]} == {f"{alias} {part}"}


def test_records_survive_the_crash_of_their_broker(own: Lab) -> None:
    client = admin(own, "P")
    client.create_topics([NewTopic("survivor", 1, 1)])["survivor"].result(10)
    producer = Producer({"bootstrap.servers": own.info()["clusters"]["P"]["bootstrap_servers"], "acks": "all"})
    producer.produce("survivor", b"record")
    assert producer.flush(10) == 0
    own.kill("P", "broker")
    own.start("P", "broker")
    assert "survivor" in admin(own, "P").list_topics(timeout=10).topics


def test_a_topic_is_not_created_by_reading_it(own: Lab) -> None:
    client = admin(own, "P")
    client.list_topics("typo", timeout=10)
    assert "typo" not in client.list_topics(timeout=10).topics


def test_a_frozen_broker_does_not_respond_until_it_is_resumed(own: Lab) -> None:
    port = own.info()["clusters"]["B"]["ports"][2]
    assert own.pause("B", "connect")
    assert not own.pause("B", "connect")
    assert own.status()["parts"]["B connect"]["state"] == "paused"
    assert probes.get_json(port, "/") is None
    with pytest.raises(LabError, match="B connect is paused"):
        own.up()
    assert own.resume("B", "connect")
    assert processes.wait_until(lambda: probes.get_json(port, "/") is not None, 20)


def test_lost_pid_files_and_lab_json_do_not_hide_the_processes(own: Lab) -> None:
    before = {alias: cluster_id(own, alias) for alias in ("P", "B")}
    for path in [own.paths.state_file, *(own.paths.root / "run").glob("*.pid")]:
        path.unlink()
    assert own.missing() == []
    with pytest.raises(LabError, match=r"lab\.json is missing although parts of the lab run"):
        own.up()
    assert sorted(own.down()) == sorted(PARTS)
    own.up()
    assert {alias: cluster_id(own, alias) for alias in before} == before


def test_down_leaves_no_process_and_up_restores_the_data(own: Lab) -> None:
    before = own.info()
    assert sorted(own.down()) == sorted(PARTS)
    assert processes_of(own) == []
    assert own.down() == []
    assert set(pids(own).values()) == {None}
    own.up()
    after = own.info()
    for alias in ("P", "B"):
        for key in ("bootstrap_servers", "connect_url", "cluster_id"):
            assert after["clusters"][alias][key] == before["clusters"][alias][key]
    assert "survivor" in admin(own, "P").list_topics(timeout=10).topics


def test_if_another_program_uses_a_port_the_next_start_chooses_others(own: Lab) -> None:
    own.down()
    before = own.info()["clusters"]["P"]["ports"]
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", before[0]))
        listener.listen()
        own.up()
    assert not set(own.info()["clusters"]["P"]["ports"]) & set(before)


def test_a_failing_start_shows_the_log_and_leaves_nothing_running(tmp_path: Path) -> None:
    broken = Lab(tmp_path / "broken", heap_mb=8)
    try:
        done = program(broken, "up", "--heap-mb", "8")
        assert done.returncode == 1
        assert "Traceback" not in done.stderr
        assert json.loads(program(broken, "status").stdout)["running"] is False
        assert processes_of(broken) == []
    finally:
        broken.down()


def test_a_download_without_a_network_is_a_clear_error(tmp_path: Path) -> None:
    lab = Lab(tmp_path / "offline")
    cache = tmp_path / "cache"
    nowhere = "-Dhttps.proxyHost=127.0.0.1 -Dhttps.proxyPort=9 -Dhttp.proxyHost=127.0.0.1 -Dhttp.proxyPort=9"
    done = program(lab, "up", "--cache", str(cache), JAVA_TOOL_OPTIONS=nowhere)
    assert done.returncode == 1
    assert "The Kafka jars could not be downloaded" in done.stderr
    assert "Maven Central must be reachable" in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(cache.glob("jars-*/*.jar"))
    assert not list(cache.glob("*.part-*"))


# ---- as playbooks


def play(name: str, folder: Path, *arguments: str) -> dict[str, Any]:
    environ = {
        **os.environ,
        "ANSIBLE_COLLECTIONS_PATH": str(ROOT / "build" / "collections"),
        "KAFKA_DR_LAB_DIR": str(folder),
        "ANSIBLE_LOCALHOST_WARNING": "false",
        "ANSIBLE_INVENTORY_UNPARSED_WARNING": "false",
    }
    command = [str(Path(sys.executable).with_name("ansible-playbook")), f"switchback.kafka_dr.{name}", *arguments]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=500, check=False, env=environ, cwd=folder.parent
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "WARNING" not in done.stderr + done.stdout
    recap = done.stdout.splitlines()[-2].split(":", 1)[1]
    return {key: int(value) for key, value in (pair.split("=") for pair in recap.split())}


def test_the_playbooks_start_describe_and_stop_the_lab(tmp_path: Path) -> None:
    folder = tmp_path / "by playbook"
    lab = Lab(folder)
    try:
        assert play("lab_up", folder, "--check", "--diff")["changed"] == 1
        assert not folder.exists()
        assert play("lab_up", folder)["changed"] == 4
        (folder / "ledger" / "settlement.env").write_text("KAFKA_ALIAS=B\n")
        assert play("lab_up", folder)["changed"] == 0, "nothing is new, and a cutover's endpoint is not taken back"
        assert play("lab_up", folder, "--check", "--diff")["changed"] == 0
        written = yaml.safe_load((folder / "inventory" / "group_vars" / "all" / "kafka_dr.yml").read_text())
        pair = derive_pair({key.removeprefix("kafka_dr_"): value for key, value in written.items()})
        assert pair["clusters"]["P"]["cluster_id"] == lab.info()["clusters"]["P"]["cluster_id"]
        assert pair["groups"] == ["settlement", "fraud"]
        assert play("lab_down", folder, "--check")["changed"] == 1
        assert len(processes_of(lab)) == 4
        assert play("lab_down", folder, "-e", "lab_wipe=true")["changed"] == 2
        assert play("lab_down", folder)["changed"] == 0
        assert processes_of(lab) == []
        assert list(folder.iterdir()) == []
    finally:
        lab.down()
