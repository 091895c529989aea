# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The folder of a lab: which values are stored, and which folders are refused."""

from __future__ import annotations

import json
import stat
import sys
from pathlib import Path

import pytest

from lab import aiven, cli, configs, java, layout, srm, zookeeper
from lab.configs import Settings
from lab.errors import LabError
from lab.files import read_json, write_atomically
from lab.ivy import KAFKA_VERSION
from lab.lab import Lab


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(tmp_path / "lab", quiet=True)


def remember(lab: Lab, settings: Settings | None = None) -> dict[str, object]:
    """lab.json as a start would leave it, without the start."""
    lab.paths.root.mkdir(exist_ok=True)
    pids = dict.fromkeys(lab.paths.parts())
    document = layout.state_document(
        lab.paths, layout.new_clusters(lab.paths, Settings()), settings or Settings(), pids
    )
    lab.paths.state_file.write_text(json.dumps(document))
    return document


def test_addresses_are_the_same_after_a_restart(lab: Lab) -> None:
    document = remember(lab)
    state = layout.load_state(lab.paths)
    again = layout.state_document(
        lab.paths, layout.clusters_of(lab.paths, state), layout.stored_settings(state), dict.fromkeys(lab.paths.parts())
    )
    assert again == document


def test_the_clusters_share_no_port_and_no_id(lab: Lab) -> None:
    clusters = layout.new_clusters(lab.paths, Settings())
    assert len({port for cluster in clusters.values() for port in cluster.ports}) == 6
    assert len({cluster.cluster_id for cluster in clusters.values()}) == 2


def test_a_cluster_id_never_looks_like_an_option() -> None:
    found = {layout.new_cluster_id() for _round in range(500)}
    assert len(found) == 500
    assert all(len(item) == 22 and not item.startswith("-") for item in found)


def test_a_formatted_folder_keeps_its_id_when_lab_json_is_lost(lab: Lab) -> None:
    write_atomically(lab.paths.root / "P" / "cluster_id", "abcdefghijklmnopqrstuv\n")
    assert layout.new_clusters(lab.paths, Settings())["P"].cluster_id == "abcdefghijklmnopqrstuv"


@pytest.mark.parametrize("content", ["", "{", "[]", '{"clusters": {"P": {}}}'])
def test_a_damaged_lab_json_is_refused(lab: Lab, content: str) -> None:
    lab.paths.root.mkdir()
    lab.paths.state_file.write_text(content)
    with pytest.raises(LabError, match="There is no lab in"):
        lab.info()
    assert lab.status()["clusters"] == {}


def test_an_unknown_setting_of_another_version_is_ignored(lab: Lab) -> None:
    assert layout.stored_settings({"settings": {"heap_mb": 512, "colour": "red"}}) == Settings(heap_mb=512)


def test_a_folder_has_one_name_no_matter_how_it_is_written(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    assert layout.layout(tmp_path / "link") == layout.layout(tmp_path / "real")


def test_a_comma_in_the_path_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="must not contain a comma"):
        layout.layout(tmp_path / "a,b")


def test_wipe_keeps_files_that_the_program_did_not_create(lab: Lab) -> None:
    remember(lab)
    (lab.paths.root / "P" / "data").mkdir(parents=True)
    (lab.paths.root / "mine.txt").write_text("mine")
    lab.down(wipe=True)
    assert [path.name for path in lab.paths.root.iterdir()] == ["mine.txt"]


def test_down_without_a_lab_creates_nothing(lab: Lab) -> None:
    assert lab.down() == []
    assert not lab.paths.root.exists()


def test_status_of_a_stopped_lab_shows_unknown_memory(lab: Lab) -> None:
    remember(lab)
    found = lab.status()
    assert found["running"] is False
    assert found["rss_mib"] is None
    assert {part["state"] for part in found["parts"].values()} == {"stopped"}


def test_an_unknown_part_is_reported_with_the_known_ones(lab: Lab) -> None:
    with pytest.raises(LabError, match=r"no part 'X' 'broker'\. Its parts are P broker, P connect, B broker"):
        lab.kill("X", "broker")


def test_pausing_a_stopped_process_is_an_error(lab: Lab) -> None:
    remember(lab)
    with pytest.raises(LabError, match="P broker does not run"):
        lab.pause("P", "broker")


def test_a_file_is_replaced_only_when_it_changes(tmp_path: Path) -> None:
    assert write_atomically(tmp_path / "a", "one")
    assert not write_atomically(tmp_path / "a", "one")
    assert write_atomically(tmp_path / "a", "two")
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_a_missing_file_is_an_empty_object(tmp_path: Path) -> None:
    assert read_json(tmp_path / "none.json") == {}


# ---- Java


@pytest.mark.parametrize(
    ("output", "version"),
    [
        ('openjdk version "17.0.15" 2025-04-15', 17),
        ('openjdk version "21" 2023-09-19', 21),
        ('java version "1.8.0_402"', 8),
        ('Picked up JAVA_TOOL_OPTIONS: -Dx=1\nopenjdk version "21.0.2"', 21),
        ("Segmentation fault", None),
    ],
)
def test_the_version_is_read_from_the_output_of_java(output: str, version: int | None) -> None:
    assert java.major_version(output) == version


def fake_java(home: Path, version: str) -> None:
    program = home / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)


def test_an_old_java_is_refused_with_the_package_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_java(tmp_path, "11.0.2")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(LabError, match=r"is Java 11\. .*openjdk-17-jre-headless"):
        java.find_java()


def test_a_new_java_is_found_through_java_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_java(tmp_path, "21.0.2")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert java.find_java().program == str(tmp_path / "bin" / "java")


def test_without_java_the_package_to_install_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(LabError, match=r"PATH has no java.*openjdk-17-jre-headless"):
        java.find_java()


# ---- command line


def test_status_prints_one_line_of_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["lab", "status", "--dir", str(tmp_path)])
    assert cli.main() == 0
    assert json.loads(capsys.readouterr().out)["running"] is False


def test_an_error_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["lab", "pause", "P", "broker", "--dir", str(tmp_path)])
    assert cli.main() == 1
    found = capsys.readouterr()
    assert found.out == ""
    assert found.err.startswith("lab: P broker does not run")
    assert "Traceback" not in found.err


def test_check_only_reports_the_processes_that_would_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["lab", "up", "--check", "--dir", str(tmp_path / "lab")])
    assert cli.main() == 0
    found = json.loads(capsys.readouterr().out)
    assert found["changed"] is True
    assert found["started"] == ["P broker", "P connect", "B broker", "B connect"]
    assert not (tmp_path / "lab").exists()


# ---- the engine srm


def test_the_engine_srm_has_an_emulator_for_each_cluster_and_reports_its_address(tmp_path: Path) -> None:
    lab = Lab(tmp_path / "lab", engine="srm", quiet=True)
    assert [part for _alias, part in lab.wanted()] == ["broker", "connect", "cm"] * 2
    clusters = layout.new_clusters(lab.paths, Settings(engine="srm"))
    assert len({port for cluster in clusters.values() for port in cluster.ports}) == 8
    pids = dict.fromkeys(lab.paths.parts())
    found = layout.state_document(lab.paths, clusters, Settings(engine="srm"), pids)["clusters"]["P"]
    assert found["cm_url"] == found["srm"]["url"] == clusters["P"].cm_url
    assert found["srm"]["command"] == [found["srm_control"]]
    again = layout.clusters_of(lab.paths, {"clusters": {"P": found, "B": {**found}}})
    assert again["P"].ports == clusters["P"].ports


def test_an_emulator_starts_with_the_configuration_of_a_customer(tmp_path: Path) -> None:
    clusters = layout.new_clusters(layout.layout(tmp_path), Settings(engine="srm"))
    found = json.loads(srm.document(clusters["P"], clusters, Settings(engine="srm")))
    (site,) = found["sites"]
    assert set(site["bootstrap_servers"]) == {"P", "B"}
    assert "enabled" not in site["config"]["streams.replication.manager.config"]
    assert not [name for name in site["config"] if name.startswith("refresh.")], "SRM's own intervals unless asked"
    fast = json.loads(srm.document(clusters["P"], clusters, Settings(engine="srm", srm_refresh_seconds=2)))
    assert fast["sites"][0]["config"]["refresh.topics.interval.seconds"] == "2"


# ---- the engine aiven


def test_the_engine_aiven_has_an_emulator_for_each_cluster_and_reports_its_site(tmp_path: Path) -> None:
    lab = Lab(tmp_path / "lab", engine="aiven", quiet=True)
    assert [part for _alias, part in lab.wanted()] == ["broker", "connect", "aiven"] * 2
    clusters = layout.new_clusters(lab.paths, Settings(engine="aiven"))
    assert len({port for cluster in clusters.values() for port in cluster.ports}) == 8
    pids = dict.fromkeys(lab.paths.parts())
    found = layout.state_document(lab.paths, clusters, Settings(engine="aiven"), pids)["clusters"]["P"]
    assert found["aiven"]["url"] == f"{clusters['P'].cm_url}/v1"
    assert "cm_url" not in found
    again = layout.clusters_of(lab.paths, {"clusters": {"P": found, "B": {**found}}})
    assert again["P"].ports == clusters["P"].ports


def test_an_emulated_service_starts_without_a_flow(tmp_path: Path) -> None:
    clusters = layout.new_clusters(layout.layout(tmp_path), Settings(engine="aiven"))
    found = json.loads(aiven.document(clusters["P"], clusters, Settings(engine="aiven")))
    assert (set(found["bootstrap_servers"]), found["settings"]) == ({"P", "B"}, {})
    assert found["tokens"][aiven.access(clusters["P"])["token"]] == "writer"
    fast = json.loads(aiven.document(clusters["P"], clusters, Settings(engine="aiven", srm_refresh_seconds=2)))
    assert fast["settings"]["refresh_topics_interval_seconds"] == 2


# ---- several brokers and workers


def test_several_brokers_have_a_controller_apart_and_ports_of_their_own(lab: Lab) -> None:
    settings = Settings(brokers=3, workers=2)
    assert settings.parts == ("controller", "broker", "broker-2", "broker-3", "connect", "connect-2")
    assert Settings().parts == ("broker", "connect")
    clusters = layout.new_clusters(lab.paths, settings)
    assert len({port for cluster in clusters.values() for port in cluster.ports}) == 12
    assert len(clusters["P"].bootstrap_servers.split(",")) == 3
    state = layout.state_document(lab.paths, clusters, settings, dict.fromkeys(lab.paths.parts()))
    assert layout.clusters_of(lab.paths, state) == clusters


def test_each_node_has_the_listeners_of_its_role_and_two_of_three_replicas_must_be_in_sync(lab: Lab) -> None:
    cluster = layout.new_clusters(lab.paths, Settings(brokers=3))["P"]
    nodes = {part: configs.broker(cluster, part) for part in ("controller", *cluster.brokers)}
    assert [node["node.id"] for node in nodes.values()] == [100, 1, 2, 3]
    assert [node["process.roles"] for node in nodes.values()] == ["controller", "broker", "broker", "broker"]
    assert len({str(node["listeners"]) for node in nodes.values()}) == len(
        {node["log.dirs"] for node in nodes.values()}
    )
    factors = ("default.replication.factor", "min.insync.replicas", "offsets.topic.replication.factor")
    assert [nodes["broker-2"][name] for name in factors] == [3, 2, 3]


@pytest.mark.parametrize("part", ["controller", "broker", "broker-3"])
def test_a_secured_node_has_no_listener_of_another_role(part: str, lab: Lab) -> None:
    cluster = layout.new_clusters(lab.paths, Settings(brokers=3, secure=True))["P"]
    text = configs.render(cluster, part, Settings(brokers=3, secure=True))
    listeners = next(line for line in text.splitlines() if line.startswith("listeners="))
    wanted = "CONTROLLER" if part == "controller" else "SASL_SSL"
    assert listeners == f"listeners={wanted}://127.0.0.1:{cluster.port(part)}"
    assert ("advertised.listeners" in text) == (part != "controller")


def test_a_part_runs_the_version_of_its_cluster() -> None:
    settings = Settings(kafka_versions={"P": "3.9.1"}, connect_versions={"B": "3.7.2"})
    found = {(alias, part): settings.version(alias, part) for alias in ("P", "B") for part in ("broker", "connect")}
    assert found == {
        ("P", "broker"): "3.9.1",
        ("P", "connect"): KAFKA_VERSION,
        ("B", "broker"): KAFKA_VERSION,
        ("B", "connect"): "3.7.2",
    }


def test_brokers_of_an_old_version_have_a_zookeeper_and_no_controller(lab: Lab) -> None:
    """KIP-833: KRaft is ready for production since Kafka 3.3."""
    settings = Settings(kafka_versions={"P": "2.8.2", "B": "3.4.1"})
    assert [settings.parts_of(alias) for alias in ("P", "B")] == [
        ("zookeeper", "broker", "connect"),
        ("broker", "connect"),
    ]
    cluster = layout.new_clusters(lab.paths, settings)["P"]
    server = configs.render(cluster, "zookeeper", settings)
    assert f"clientPort={cluster.controller_port}\n" in server
    text = configs.render(cluster, "broker", settings)
    assert f"zookeeper.connect=127.0.0.1:{cluster.controller_port}\n" in text
    assert f"listeners=PLAINTEXT://127.0.0.1:{cluster.broker_port}\n" in text
    assert "broker.id=1\n" in text
    assert not [line for line in text.splitlines() if line.startswith(("process.roles", "controller.", "node.id"))]


def test_a_zookeeper_has_one_broker_that_is_not_secured(lab: Lab) -> None:
    for more in ({"brokers": 3}, {"secure": True}):
        with pytest.raises(LabError, match=r"Kafka 2.8.2 runs with ZooKeeper in the lab: one broker, not secured"):
            Lab(lab.paths.root, kafka_versions={"P": "2.8.2"}, quiet=True, **more).up()  # type: ignore[arg-type]


def test_data_of_kraft_is_not_used_with_zookeeper(lab: Lab) -> None:
    remember(lab)
    write_atomically(lab.paths.root / "P" / "cluster_id", "abcdefghijklmnopqrstuv\n")
    with pytest.raises(LabError, match=r"written by Kafka 4.3.1, wanted 2.8.2"):
        Lab(lab.paths.root, kafka_versions={"P": "2.8.2"}, quiet=True).up()


def test_the_cluster_id_is_stored_in_zookeeper_or_the_start_fails() -> None:
    znode = '{"version":"1","id":"abcdefghijklmnopqrstuv"}'
    shell = [sys.executable, "-c", "import sys; print(sys.stdin.read().splitlines()[1].split()[2])"]
    zookeeper.set_cluster_id(shell, "abcdefghijklmnopqrstuv")
    other = [sys.executable, "-c", f"print({znode!r}.replace('abc', 'xyz'))"]
    with pytest.raises(LabError, match="could not be stored in ZooKeeper"):
        zookeeper.set_cluster_id(other, "abcdefghijklmnopqrstuv")


def test_a_lab_keeps_its_size(lab: Lab) -> None:
    remember(lab)
    write_atomically(lab.paths.root / "P" / "cluster_id", "abcdefghijklmnopqrstuv\n")
    with pytest.raises(LabError, match="has 1 brokers and 1 workers, wanted 3 and 1"):
        Lab(lab.paths.root, brokers=3, quiet=True).up()
