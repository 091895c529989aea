# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The engine strimzi: the same playbooks by resources of a real API server, with an emulated operator for each cluster.

The operators drive the lab's real workers, so MirrorMaker 2 is real.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import NewTopic

from accounts import read_log
from ansible_collections.switchback.kafka_dr.plugins.module_utils._http import quoted
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.client import Kafka
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.topics import log_ranges
from brokers import admin
from disasters import FLOW, PARTS, give_back, hold_back
from drafts import drafted
from engine_cases import CLIENTS, EnableCases, EndCases, EngineStore, MoveCases, counted, harmless
from kills import beginning, disturbed, kill_in_phase
from kube_apiserver import undefine, until
from kube_faults import AWAY, FROZEN, PAUSED, RESTARTED, KubeFault, late, restart
from kube_lab import KubeLab
from lab.lab import Lab
from scenario import Scenario, totals
from snapshot import read_inventory
from strimzi_crds import GROUP, mirror_spec
from workers import worker

SOURCE = "p-b.mirrorsourceconnector"
#: What the engine creates a stopped connector with.
NOTHING = "(?!)"


@pytest.fixture(scope="module")
def pair(api_server: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scenario]:
    """A pair before any configuration. Each test continues where the one before ended."""
    with Scenario(tmp_path_factory.mktemp("strimzi"), partitions=4, clients=CLIENTS, engine="strimzi").up() as made:
        yield made


def kubernetes(pair: Scenario) -> KubeLab:
    assert pair.kubernetes is not None
    return pair.kubernetes


def states(pair: Scenario, alias: str = "B") -> dict[str, tuple[str, int]]:
    """State and number of tasks of each connector, as the workers of a cluster report them."""
    found = worker(Lab(pair.folder, quiet=True), alias).call("GET", "/connectors", query="?expand=status")
    return {
        name: (entry["status"]["connector"]["state"], len(entry["status"]["tasks"])) for name, entry in found.items()
    }


class StrimziStore(EngineStore):
    shown = "P->B.MirrorSourceConnector"

    def state(self, alias: str) -> Any:
        return {
            name: (found["metadata"]["generation"], found["metadata"].get("annotations"), found["spec"])
            for name, found in kubernetes(self.pair).connectors(alias).items()
        }

    def runs(self, alias: str) -> bool:
        found = states(self.pair, alias)
        return set(found) == set(kubernetes(self.pair).connectors(alias)) and all(
            state == "RUNNING" for state, _tasks in found.values()
        )

    def empty(self) -> bool:
        until(lambda: states(self.pair) == states(self.pair, "P") == {}, 30.0)
        return kubernetes(self.pair).connectors("P") == kubernetes(self.pair).connectors("B") == {}


@pytest.fixture(scope="module")
def store(pair: Scenario) -> EngineStore:
    return StrimziStore(pair)


# ---- invalid configurations

BAD: list[tuple[dict[str, Any], str]] = [
    ({"namespace": "nowhere"}, "rights_missing"),
    ({"connect": "other"}, "no_kafka_connect"),
    ({"token_file": None, "token": "one-that-has-expired"}, "kubernetes_not_authorized"),
    ({"url": "https://127.0.0.1:1"}, "kubernetes_unreachable"),
]


@pytest.mark.long
@pytest.mark.parametrize(("site", "expected"), BAD, ids=[expected for _site, expected in BAD])
def test_each_invalid_site_is_refused_and_nothing_is_created(
    pair: Scenario, site: dict[str, Any], expected: str
) -> None:
    before = kubernetes(pair).specs()
    declared = read_inventory(pair.inventory)["kafka_dr_strimzi"]
    declared["B"] = {key: value for key, value in {**declared["B"], **site}.items() if value is not None}
    done = pair.playbook("enable", {"kafka_dr_confirm": "P", "kafka_dr_strimzi": declared}, ("-vv",), expect=2)
    assert expected in done["output"]
    assert "one-that-has-expired" not in done["output"]
    assert kubernetes(pair).specs() == before
    assert states(pair) == states(pair, "P") == {}


@pytest.mark.long
def test_without_definitions_enable_is_refused(pair: Scenario) -> None:
    undefine(kubernetes(pair).kube)
    try:
        done = pair.playbook("enable", {"kafka_dr_confirm": "P"}, expect=2)
    finally:
        kubernetes(pair).up(pair.inventory, Lab(pair.folder, quiet=True).info())
    assert "Install Strimzi or Cloudera Streams Messaging Operator there" in " ".join(done["output"].split())


def create(place: KubeLab, name: str, part: str, config: dict[str, str]) -> None:
    """Create a KafkaConnector on the workers of B that is not the pair's."""
    body = {
        "apiVersion": f"{GROUP}/v1",
        "kind": "KafkaConnector",
        "metadata": {"name": name, "labels": {"strimzi.io/cluster": "dr-b"}},
        "spec": {
            "class": f"org.apache.kafka.connect.mirror.Mirror{part}Connector",
            "tasksMax": 1,
            "state": "running",
            "config": config,
        },
    }
    place.kube.call("POST", place.path("B"), body)


# ---- enabling


class TestEnable(EnableCases):
    pass


@pytest.mark.long
def test_a_rehearsal_proves_a_move_and_leaves_no_resource_and_no_connector(pair: Scenario) -> None:
    before, connectors = kubernetes(pair).specs(), set(states(pair)) | set(states(pair, "P"))
    pair.playbook("rehearse", {"kafka_dr_confirm": "B", "kafka_dr_rehearsal_seconds": 2})
    report = json.loads((pair.reports / "rehearsal.json").read_text())
    assert report["outcome"] == "completed"
    verdicts = {check["name"]: check["verdict"] for check in report["checks"]}
    # The lab has no authorizer, so no fence is proven.
    assert verdicts.pop("cutover") == "UNKNOWN"
    assert set(verdicts.values()) == {"PROVEN"}, report["checks"]
    assert kubernetes(pair).specs() == before
    until(lambda: set(states(pair)) | set(states(pair, "P")) == connectors, 30.0)


@pytest.mark.long
def test_discover_reads_the_connectors_and_finds_no_drift(pair: Scenario) -> None:
    before = kubernetes(pair).specs()
    draft = drafted(pair)
    assert (draft["kafka_dr_engine"], sorted(draft["kafka_dr_strimzi"])) == ("strimzi", ["B", "P"])
    assert kubernetes(pair).token_file.read_text() not in json.dumps(draft)
    assert kubernetes(pair).specs() == before


@pytest.mark.long
def test_status_and_readiness_write_nothing(pair: Scenario) -> None:
    before = kubernetes(pair).specs()
    pair.playbook("status")
    pair.playbook("readiness")
    report = json.loads((pair.reports / "readiness.json").read_text())
    found = {row["name"]: (row["answer"], row["found"]) for row in report["checks"]}
    assert {found[name][0] for name in ("flow_carries", "back_carries", "flow_settings")} == {"YES"}, found
    assert [name for name, (answer, _text) in found.items() if answer == "NO"] == []
    assert kubernetes(pair).specs() == before


@pytest.mark.long
@pytest.mark.parametrize("part", ["Source", "Checkpoint"])
def test_real_mirrormaker_2_replicates_nothing_with_filters_that_match_nothing(pair: Scenario, part: str) -> None:
    """The positive control is the same connector with the topics or the groups of the pair."""
    place, lab = kubernetes(pair), Lab(pair.folder, quiet=True)
    clusters, name = lab.info()["clusters"], f"x-{part.lower()}"
    config = {
        "source.cluster.alias": "X",
        "target.cluster.alias": "B",
        "source.cluster.bootstrap.servers": clusters["P"]["bootstrap_servers"],
        "target.cluster.bootstrap.servers": clusters["B"]["bootstrap_servers"],
        "topics": NOTHING if part == "Source" else "Payments",
        "groups": NOTHING,
        **{f"{kind}.interval.seconds": "1" for kind in ("refresh.topics", "refresh.groups", "emit.checkpoints")},
        **{f"{kind}.topic.replication.factor": "1" for kind in ("offset-syncs", "checkpoints")},
        "replication.factor": "1",
        # Otherwise each topic whose name ends in "heartbeats" is replicated, for any filter.
        "heartbeats.replication.enabled": "false",
        "offset-syncs.topic.location": "target",
        "emit.offset-syncs.enabled": "true",
    }
    create(place, name, part, config)
    until(lambda: states(pair).get(name, ("", 0))[0] == "RUNNING", 60.0)
    # Two refreshes of topics or groups, by the records that were written meanwhile.
    pair.traffic(1500)
    # MirrorMaker 2 starts no task without a topic or a group.
    assert states(pair)[name] == ("RUNNING", 0)
    assert replicated(pair, part) == 0
    matching = {"topics": "Payments"} if part == "Source" else {"groups": "settlement,fraud"}
    place.kube.patch(f"{place.path('B')}/{name}", {"spec": {"config": matching}})
    until(lambda: states(pair)[name] == ("RUNNING", 1), 60.0)
    if part == "Source":
        until(lambda: replicated(pair, part) > 0, 60.0)
    place.kube.call("DELETE", f"{place.path('B')}/{name}")
    until(lambda: name not in states(pair), 30.0)


def replicated(pair: Scenario, part: str) -> int:
    """Log end offsets of what the flow from X replicated, or of its checkpoints; 0 if the topic does not exist."""
    topic = "X.Payments" if part == "Source" else "X.checkpoints.internal"
    lab = Lab(pair.folder, quiet=True)
    found = admin(lab, "B").list_topics(timeout=15).topics
    partitions = {(topic, number) for number in (found[topic].partitions if topic in found else ())}
    ranges = log_ranges(Kafka(lab.info()["clusters"]["B"]["bootstrap_servers"], {}, 15.0), partitions)
    return sum(end for _start, end in ranges.values())


class TestMoves(MoveCases):
    pass


# ---- faults


@pytest.mark.long
@pytest.mark.parametrize("phase", ["barrier", "flows"])
@pytest.mark.parametrize(
    ("fault", "lasts"),
    [(PAUSED, 5.0), (RESTARTED, None), (late(2.0), None)],
    ids=["paused", "restarted", "slow"],
)
def test_an_operator_with_a_fault_does_not_harm_a_move(
    pair: Scenario, phase: str, fault: KubeFault, lasts: float | None
) -> None:
    pair.traffic(500)

    def act(_run: subprocess.Popen[bytes]) -> None:
        fault.strike(kubernetes(pair), lasts)

    rc, output = disturbed(pair, beginning(phase), "failover_cutoff", {"kafka_dr_confirm": "B"}, act)
    restart(kubernetes(pair))
    assert rc == 0, output[-3000:]
    assert pair.move("failback", "P")["outcome"] == "completed"
    pair.traffic(500)
    harmless(counted(pair), 0)


@pytest.mark.soak
@pytest.mark.timeout(2400)
def test_with_operators_that_are_30_s_late_a_move_only_takes_longer(pair: Scenario) -> None:
    """The time-outs of the run have their defaults."""
    pair.traffic(500)
    late(30.0).strike(kubernetes(pair))
    try:
        moved = pair.move("failover_cutoff", "B")
    finally:
        restart(kubernetes(pair))
    assert moved["outcome"] == "completed"
    print(f"30 s late: {pair.downtime(moved)}, playbook {moved['playbook_s']} s")
    assert pair.move("failback", "P")["outcome"] == "completed"
    pair.traffic(500)
    harmless(counted(pair), 0)


@pytest.mark.long
@pytest.mark.parametrize(
    ("phase", "fault"),
    [
        pytest.param(phase, fault, marks=[] if phase in ("drain", "barrier") else [pytest.mark.soak])
        for phase in ("stop_producers", "drain", "stop_consumers", "barrier", "start", "flows")
        for fault in ("away", "frozen")
    ],
)
def test_an_api_server_that_is_away_does_not_harm_a_move(pair: Scenario, phase: str, fault: str) -> None:
    pair.traffic(500)
    place = kubernetes(pair)

    def act(_run: subprocess.Popen[bytes]) -> None:
        (AWAY if fault == "away" else FROZEN).strike(place, 5.0)

    rc, output = disturbed(pair, beginning(phase), "failover_cutoff", {"kafka_dr_confirm": "B"}, act)
    assert rc == 0, output[-3000:]
    assert pair.move("failback", "P")["outcome"] == "completed"
    pair.traffic(500)
    harmless(counted(pair), 0)


@pytest.mark.long
def test_a_resource_that_another_field_manager_takes_during_a_run_is_refused(pair: Scenario) -> None:
    place = kubernetes(pair)
    other = place.server.kube(manager="argocd-controller")
    path = f"{place.path('B')}/{SOURCE}"
    taken = {"apiVersion": f"{GROUP}/v1", "kind": "KafkaConnector", "metadata": {"name": SOURCE}}

    def take(_run: subprocess.Popen[bytes]) -> None:
        other.apply(path, {**taken, "spec": {"state": "running"}})

    pair.traffic(500)
    rc, output = disturbed(pair, beginning("stop_producers"), "failover_cutoff", {"kafka_dr_confirm": "B"}, take)
    text = " ".join(output.split())
    assert rc == 2, text[-3000:]
    assert 'the field spec.state belongs to the field manager "argocd-controller"' in text.replace('\\"', '"')
    assert place.connectors("B")[SOURCE]["spec"]["state"] == "running"
    # The applications run on P again. From now on the field is taken before a run begins.
    pair.traffic(500)
    done = pair.playbook("failover_cutoff", {"kafka_dr_confirm": "B"}, expect=2)
    assert 'belongs to the field manager "argocd-controller"' in " ".join(done["output"].split()).replace('\\"', '"')
    assert beginning("stop_producers") not in done["output"]
    # The controller is suspended.
    other.apply(path, taken)
    assert pair.move("failover_cutoff", "B")["outcome"] == "completed"
    pair.traffic(500)
    assert pair.move("failback", "P")["outcome"] == "completed"
    pair.traffic(500)
    harmless(counted(pair), 0)


@pytest.mark.long
def test_the_audit_proves_records_and_offsets(pair: Scenario) -> None:
    """Before a cluster is lost: afterwards it has records that the other one never had."""
    pair.traffic(500)
    audit = pair.verify()
    assert audit["verdict"] == "PROVEN", audit["text"]


class TestEnd(EndCases):
    @pytest.mark.long
    def test_a_lost_cluster_is_left_and_comes_back_with_its_unreplicated_records(
        self, pair: Scenario, store: EngineStore
    ) -> None:
        """P, its workers, its operator and its API server do not respond."""
        place, lab = kubernetes(pair), Lab(pair.folder)
        pair.traffic(500)
        sites = place.sites()
        sites["P"]["url"] = "https://127.0.0.1:1"
        place.pause("B")  # it would resume the connector
        hold_back(pair, lab, FLOW, 1.0)
        for part in PARTS:
            lab.kill("P", part)
        place.stop("P")
        place.resume("B")
        report = pair.move("failover_disaster", "B", kafka_dr_strimzi=sites)
        assert (report["outcome"], report["verdict"]) == ("completed", "UNKNOWN")
        assert {check["name"]: check["verdict"] for check in report["checks"]}["committed_offsets"] == "PROVEN"
        assert states(pair)[SOURCE] == ("STOPPED", 0)
        assert pair.move("failover_disaster", "B", kafka_dr_strimzi=sites)["outcome"] == "already_there"
        pair.traffic(500)
        for part in PARTS:
            lab.start("P", part)
        place.restart("P")
        assert pair.playbook("salvage")["changed"] == 0
        assert json.loads((pair.reports / "salvage-list.json").read_text())["records"] > 0
        give_back(pair)
        assert pair.move("failback", "P")["outcome"] == "completed"
        pair.traffic(500)
        found = counted(pair)
        assert (found["lost"], found["phantom"]) == (0, 0)


# ---- identity


@pytest.fixture(scope="module")
def identity(pair: Scenario) -> Scenario:
    """The same lab, emptied, with the policy identity, enabled, applications running on P."""
    pair.stop()
    pair.policy = "identity"
    pair.lab_up()
    pair.playbook("enable", {"kafka_dr_confirm": "P"})
    pair.start()
    return pair


def records(pair: Scenario, alias: str, topic: str = "Payments") -> int:
    """The records of a topic on one cluster; 0 if it does not exist."""
    lab = Lab(pair.folder, quiet=True)
    if topic not in admin(lab, alias).list_topics(timeout=15).topics:
        return 0
    servers = lab.info()["clusters"][alias]["bootstrap_servers"]
    return sum(len(read_log(servers, topic, number)) for number in range(pair.partitions))


def replicated_once(pair: Scenario) -> None:
    """Stop everything, compare ledgers, and count: both clusters have exactly the records that producers wrote."""
    pair.stop()
    found = totals(pair.check())
    harmless(found, 0)
    assert found["out_of_order"] == 0
    for alias in "PB":
        pair.wait(lambda alias=alias: records(pair, alias) >= found["acknowledged"], 60, f"everything is on {alias}")
    assert {alias: records(pair, alias) for alias in "PB"} == dict.fromkeys("PB", found["acknowledged"])
    pair.start()


@pytest.mark.long
def test_identity_replicates_only_new_records_on_the_way_back(identity: Scenario) -> None:
    before = kubernetes(identity).specs()
    assert identity.playbook("enable", {"kafka_dr_confirm": "P"})["changed"] == 0
    assert kubernetes(identity).specs() == before
    identity.traffic(1000)
    out = identity.move("failover_cutoff", "B")
    assert states(identity)[SOURCE] == ("STOPPED", 0)
    identity.traffic(1000)
    home = identity.move("failback", "P")
    for report in (out, home):
        verdicts = {check["name"]: check["verdict"] for check in report["checks"]}
        assert report["outcome"] == "completed"
        assert {verdicts[name] for name in ("drained", "committed_offsets", "first_write", "groups")} == {"PROVEN"}
        assert report["rereads"] == 0
        print(f"to {report['to']}: {identity.downtime(report)}, playbook {report['playbook_s']} s")
    identity.traffic(500)
    replicated_once(identity)


@pytest.mark.long
@pytest.mark.parametrize("fault", [None, RESTARTED, late(2.0)], ids=["killed", "restarted", "slow"])
def test_identity_seeds_the_flow_back_once(identity: Scenario, fault: KubeFault | None) -> None:
    """A killed run, or an operator that is restarted or slow while offsets are set."""
    identity.traffic(500)
    if fault is None:
        kill_in_phase(identity, "start", "B")
    else:

        def act(_run: subprocess.Popen[bytes]) -> None:
            fault.strike(kubernetes(identity))

        rc, output = disturbed(identity, beginning("barrier"), "failover_cutoff", {"kafka_dr_confirm": "B"}, act)
        restart(kubernetes(identity))
        assert rc == 0, output[-3000:]
    assert identity.move("failover_cutoff", "B")["outcome"] in ("completed", "already_there")
    identity.traffic(500)
    assert identity.move("failback", "P")["outcome"] == "completed"
    identity.traffic(500)
    replicated_once(identity)


# ---- secured listeners


@pytest.fixture(scope="module")
def secured(api_server: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scenario]:
    """Both clusters have TLS, SCRAM and an authorizer."""
    folder = tmp_path_factory.mktemp("secured")
    with Scenario(folder, partitions=4, clients=CLIENTS, engine="strimzi", secure=True).up() as made:
        yield made


@pytest.mark.soak
def test_no_resource_has_a_password_and_the_applications_move_there_and_back(secured: Scenario) -> None:
    secured.playbook("enable", {"kafka_dr_confirm": "P"})
    resources = json.dumps(kubernetes(secured).specs())
    assert "${file:" in resources
    passwords = [
        line.split("=", 1)[1]
        for line in (secured.folder / "secure" / "passwords.properties").read_text().splitlines()
        if "=" in line
    ]
    assert passwords
    assert not [password for password in passwords if password in resources]
    secured.start()
    for playbook, to in (("failover_cutoff", "B"), ("failback", "P")):
        secured.traffic(1000)
        assert secured.move(playbook, to)["outcome"] == "completed"
    secured.traffic(500)
    harmless(counted(secured), 0)


# ---- adoption


def mirror(place: KubeLab) -> None:
    """A KafkaMirrorMaker2 whose operator has scaled it to 0."""
    body = {
        "apiVersion": f"{GROUP}/v1",
        "kind": "KafkaMirrorMaker2",
        "metadata": {"name": "mm2"},
        "spec": mirror_spec("Payments", 0),
    }
    folder = place.path("B", "kafkamirrormaker2s")
    made = place.kube.call("POST", folder, body)
    status = {"observedGeneration": made["metadata"]["generation"], "replicas": 0}
    place.kube.patch(f"{folder}/mm2/status", {"status": status})


@pytest.mark.soak
@pytest.mark.parametrize("kind", ["KafkaConnector", "KafkaMirrorMaker2"])
def test_a_flow_that_exists_is_adopted_and_no_record_is_replicated_twice(
    api_server: None, tmp_path: Path, kind: str
) -> None:
    """The offsets of a KafkaMirrorMaker2 have its name of the connector, and nothing runs it any more."""
    with Scenario(tmp_path, partitions=4, engine="strimzi").up() as made:
        lab, place = Lab(tmp_path, quiet=True), kubernetes(made)
        servers = {alias: one["bootstrap_servers"] for alias, one in lab.info()["clusters"].items()}
        client = admin(lab, "P")
        client.create_topics([NewTopic("Payments", 4, 1)])["Payments"].result(15)
        writer = Producer({"bootstrap.servers": servers["P"]})
        for number in range(2000):
            writer.produce("Payments", value=str(number), partition=number % 4)
        assert writer.flush(30) == 0
        config = {
            "source.cluster.alias": "P",
            "target.cluster.alias": "B",
            "source.cluster.bootstrap.servers": servers["P"],
            "target.cluster.bootstrap.servers": servers["B"],
            "topics": "Payments",
            "replication.factor": "1",
            "offset-syncs.topic.replication.factor": "1",
        }
        if kind == "KafkaConnector":
            create(place, "legacy", "Source", config)
            adopted = {"source": "legacy"}
        else:
            place.pause("B")
            rest, name = worker(lab, "B"), "P->B.MirrorSourceConnector"
            config["connector.class"] = "org.apache.kafka.connect.mirror.MirrorSourceConnector"
            rest.call("PUT", quoted("connectors", name, "config"), config)
            adopted = {"offsets_topic": "connect-B-offsets", "group": "mirrormaker2-cluster"}
        until(lambda: records(made, "B", "P.Payments") == 2000, 120.0)
        if kind == "KafkaMirrorMaker2":
            rest.call("PUT", quoted("connectors", name, "stop"))
            until(lambda: states(made)[name] == ("STOPPED", 0), 30.0)
            rest.call("DELETE", quoted("connectors", name))
            place.resume("B")
            mirror(place)
        confirmed = {"kafka_dr_confirm": "P"}
        done = made.playbook("enable", confirmed, expect=2)
        assert "kafka_dr_adopt" in done["output"]
        adopting = {**confirmed, "kafka_dr_adopt": {"P->B": adopted}}
        made.playbook("enable", adopting)
        for number in range(2000, 3000):
            writer.produce("Payments", value=str(number), partition=number % 4)
        # Nothing is left to adopt.
        assert made.playbook("enable", adopting)["changed"] == 0
        assert writer.flush(30) == 0
        until(lambda: records(made, "B", "P.Payments") >= 3000, 120.0)
        assert made.playbook("enable", confirmed)["changed"] == 0
        assert records(made, "B", "P.Payments") == 3000
        if kind == "KafkaConnector":
            assert states(made)["legacy"] == ("STOPPED", 0)
