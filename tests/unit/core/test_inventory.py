# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One inventory describes the pair: it is checked as a whole, each problem is named, and every role's values derive
from it.
"""

from __future__ import annotations

import copy
import itertools
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import DrError
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.inventory.layout import laid_out
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.inventory.pair import cutover_order, derive_pair
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.schema import Key, check_mapping, names, nearest

GOOD: dict[str, Any] = {
    "home": "P",
    "clusters": {
        "P": {"bootstrap_servers": "p:9092", "connect_url": "http://p:8083"},
        "B": {"bootstrap_servers": "b:9092", "connect_url": "http://b:8083"},
    },
    "topics": [
        {"name": "Payments", "partitions": 6, "replication_factor": 3},
        {"name": "orders.eu", "partitions": 1},
    ],
    "groups": ["settlement", {"name": "audit", "topics": ["orders.eu"]}, {"name": "probe", "mode": "local"}],
    "clients": [
        {"name": "till", "role": "producer", "topics": ["Payments"], "start": ["up"], "stop": ["down"]},
        {"name": "settle", "role": "consumer", "group": "settlement", "control": "systemd", "unit": "settle.service"},
    ],
}


def changed(**parts: Any) -> dict[str, Any]:
    """The valid inventory with some variables replaced. None removes a variable."""
    given_ = {**copy.deepcopy(GOOD), **parts}
    return {name: value for name, value in given_.items() if value is not None}


def cluster(alias: str, **parts: Any) -> dict[str, Any]:
    """The clusters with one of them changed."""
    clusters = copy.deepcopy(GOOD["clusters"])
    clusters[alias] = {key: value for key, value in {**clusters[alias], **parts}.items() if value is not None}
    return {"clusters": clusters}


def topic(**parts: Any) -> dict[str, Any]:
    return {"topics": [{"name": "T", "partitions": 1, **parts}], "groups": [], "clients": []}


def client(**parts: Any) -> dict[str, Any]:
    return {"clients": [{"name": "till", "role": "producer", "start": ["up"], "stop": ["down"], **parts}]}


def flow(**settings: Any) -> dict[str, Any]:
    return changed(flow=settings)


def contradicting(of_group: list[str], of_client: list[str]) -> dict[str, Any]:
    """A group and its only client, each with the topics that it is declared to read."""
    reader = {"name": "auditor", "role": "consumer", "group": "audit", "topics": of_client}
    return changed(groups=[{"name": "audit", "topics": of_group}], clients=[{**reader, "start": ["up"], "stop": ["x"]}])


def refusal(variables: dict[str, Any]) -> DrError:
    with pytest.raises(DrError) as refused:
        derive_pair(variables)
    assert refused.value.code == "inventory_invalid"
    assert "Nothing was changed" in refused.value.hint
    return refused.value


def aliases(first: str, second: str) -> dict[str, Any]:
    return {"home": first, "clusters": dict(zip((first, second), GOOD["clusters"].values(), strict=True))}


def sites(**sites: Any) -> dict[str, Any]:
    """The engine srm, with these sites added to or replacing the valid ones."""
    good = {alias: {"url": f"https://cm-{alias}:7183", "cluster": "Cluster 1", "host": "h"} for alias in ("P", "B")}
    return {"engine": "srm", "srm": {**good, **sites}}


BAD: list[tuple[dict[str, Any], str]] = [
    # Misspelt or unknown, with the closest valid name.
    (changed(topcis=[]), 'variable "kafka_dr_topcis" is unknown. Did you mean "kafka_dr_topics"?'),
    (changed(drain_timout=5), 'Did you mean "kafka_dr_drain_timeout"?'),
    (changed(qqqq=1), 'variable "kafka_dr_qqqq" is unknown.'),
    (changed(**cluster("P", bootstrap_server="x")), 'unknown key "bootstrap_server". Did you mean "bootstrap_servers"'),
    (changed(**topic(partition=3)), 'kafka_dr_topics[0] has the unknown key "partition". Did you mean "partitions"?'),
    (changed(groups=[{"name": "g", "modus": "local"}]), 'Did you mean "mode"?'),
    (changed(**client(endpoint_fiel="x")), 'Did you mean "endpoint_file"?'),
    (changed(flow={"task_max": 3}), 'kafka_dr_flow has the unknown key "task_max". Did you mean "tasks_max"?'),
    (
        changed(engine="conect"),
        'kafka_dr_engine is "conect", wanted one of: aiven, connect, srm, strimzi. Did you mean "connect"?',
    ),
    (changed(policy="identiy"), 'Did you mean "identity"?'),
    (changed(group_lag="chekpoint"), 'kafka_dr_group_lag is "chekpoint"'),
    (changed(accept_undeclared=["settlement"]), 'kafka_dr_accept_undeclared names "settlement", which is in'),
    (changed(accept_skips=["setlement"]), 'kafka_dr_accept_skips names "setlement", which is not in kafka_dr_groups'),
    (changed(lower="never"), "wanted one of: auto, fail, lower, keep"),
    (changed(type="cutof"), 'Did you mean "cutoff"?'),
    # Missing or of another type.
    (changed(home=None), 'needs the key "kafka_dr_home"'),
    (changed(clusters=None), 'needs the key "kafka_dr_clusters"'),
    (changed(topics=None), 'needs the key "kafka_dr_topics"'),
    (changed(topics="Payments"), 'kafka_dr_topics must be of type list, found str "Payments"'),
    (changed(clusters=["P", "B"]), "kafka_dr_clusters must be of type dict"),
    (changed(**cluster("P", bootstrap_servers=None)), 'kafka_dr_clusters.P needs the key "bootstrap_servers"'),
    (changed(topics=["Payments"]), 'kafka_dr_topics[0] must be a dictionary, found str "Payments"'),
    (changed(topics=[{"partitions": 1}]), 'kafka_dr_topics[0] needs one of the keys "name" and "match"'),
    (changed(**topic(partitions="3")), 'kafka_dr_topics[0].partitions must be of type int, found str "3"'),
    (changed(**topic(partitions=True)), "must be of type int, found bool True"),
    # the pair
    (changed(home="PP"), 'kafka_dr_home is "PP", which is not in kafka_dr_clusters.'),
    (changed(clusters={"P": GOOD["clusters"]["P"]}), "exactly two clusters, found 1"),
    (changed(clusters={**GOOD["clusters"], "C": {"bootstrap_servers": "c:1", "connect_url": "u"}}), "found 3"),
    (changed(**aliases("P.1", "B")), 'The alias "P.1" must consist of'),
    (changed(**aliases("P 1", "B")), 'The alias "P 1" must consist of'),
    (changed(**aliases("P-1", "B"), separator="-"), 'not contain the separator "-"'),
    (changed(**cluster("B", bootstrap_servers="p:9092")), 'Both clusters have the same bootstrap_servers "p:9092"'),
    (
        changed(clusters={alias: {**one, "cluster_id": "same"} for alias, one in GOOD["clusters"].items()}),
        'Both clusters have the same cluster_id "same"',
    ),
    (changed(**cluster("B", connect_url=None)), 'kafka_dr_clusters.B needs the key "connect_url"'),
    (changed(engine="srm", policy="identity"), '"identity" cannot be used with kafka_dr_engine "srm"'),
    (changed(engine="srm"), 'kafka_dr_srm needs the site "P" with kafka_dr_engine "srm"'),
    (
        changed(**sites(), groups=["connect-jdbc-sink"]),
        'kafka_dr_groups names "connect-jdbc-sink", which MirrorMaker 2',
    ),
    (
        changed(**sites(), groups=["console-consumer-audit"]),
        'groups.exclude is "console-consumer-.*, connect-.*, __.*"',
    ),
    (changed(**sites(), **topic(name="orders.replica")), 'kafka_dr_topics names "orders.replica", which'),
    (changed(**sites(P={"url": "https://cm", "host": "h"})), 'kafka_dr_srm.P needs the key "cluster"'),
    (changed(**sites(C={"url": "https://cm", "cluster": "c", "host": "h"})), 'kafka_dr_srm names "C", which is not in'),
    (changed(**sites(P={"url": "u", "cluster": "c", "host": "h", "pasword": 1})), 'has the unknown key "pasword"'),
    (
        changed(**sites(P={"url": "u", "cluster": "c", "host": "h", "reverse_checkpointing": True})),
        "must be of type str",
    ),
    # topics
    (changed(topics=[], groups=[], clients=[]), "kafka_dr_topics is empty"),
    (changed(topics=GOOD["topics"] + GOOD["topics"][:1]), 'kafka_dr_topics names "Payments" 2 times'),
    (changed(**topic(name="P.orders")), 'begins with the alias "P"'),
    (changed(**topic(name="B.orders")), 'begins with the alias "B"'),
    (changed(**topic(name="B_orders"), separator="_"), 'begins with the alias "B"'),
    (changed(**topic(name="a b")), '"a b" is not a valid topic name'),
    (changed(**topic(name="..")), '".." is not a valid topic name'),
    (changed(**topic(name="x" * 250)), "is not a valid topic name"),
    (changed(**topic(name="__consumer_offsets")), '"__consumer_offsets" is internal'),
    (changed(**topic(name="kafka-dr-journal-internal")), "is internal"),
    (changed(**topic(partitions=0)), 'The topic "T" needs at least 1 partition, found 0'),
    # groups and clients
    (changed(groups=["settlement", "settlement"]), 'kafka_dr_groups names "settlement" 2 times'),
    (changed(groups=["settlement", {"name": "g", "topics": ["Paymets"]}]), 'unknown topic "Paymets". Did you mean'),
    (changed(clients=[GOOD["clients"][0]] * 2), 'kafka_dr_clients names "till" 2 times'),
    (changed(**client(topics=["Paymets"])), 'unknown topic "Paymets". Did you mean "Payments"?'),
    (changed(**client(outputs=["Paymets"])), 'unknown topic "Paymets". Did you mean "Payments"?'),
    (changed(**client(outputs=["Payments"])), "has outputs, which only a processor has"),
    (changed(**client(role="consumer", group="setlement")), 'found "setlement". Did you mean "settlement"?'),
    (changed(**client(role="processor")), 'needs a group from kafka_dr_groups, found "None"'),
    (changed(**client(role="consumer", group="probe")), 'needs a group from kafka_dr_groups, found "probe"'),
    (changed(**client(role="reader")), "wanted one of: producer, consumer, processor"),
    (changed(**client(stop=None)), 'control "command" and needs the key "stop"'),
    (changed(**client(control="systemd")), 'control "systemd" and needs the key "unit"'),
    (changed(**client(control="tasks")), 'control "tasks" and needs the key "tasks_file"'),
    (changed(**client(after=["tlil"])), 'start after the unknown client "tlil"'),
    (changed(**client(after=["till"])), "form a cycle"),
    # Values that a later step would parse.
    (changed(separator=""), 'kafka_dr_separator is "", wanted one or more characters'),
    (changed(separator="/"), 'kafka_dr_separator is "/"'),
    (changed(**cluster("P", bootstrap_servers="p")), 'kafka_dr_clusters.P.bootstrap_servers is "p", wanted host:port'),
    (changed(**cluster("P", bootstrap_servers="")), "kafka_dr_clusters.P.bootstrap_servers"),
    (changed(**cluster("P", bootstrap_servers="p:9092\nq:9092")), r'"p:9092\nq:9092", wanted host:port'),
    (changed(**cluster("B", bootstrap_servers="b:9092, P:9092")), 'names "p:9092", as does kafka_dr_clusters.P'),
    (changed(**cluster("P", connect_url="ftp://p:8083")), "kafka_dr_clusters.P.connect_url is"),
    (changed(**cluster("P", connect_url="http://u:geheim@p:8083")), "connect_url contains a user name or a password"),
    (changed(**cluster("P", client={"group.id": "g"})), 'kafka_dr_clusters.P.client sets "group.id"'),
    (changed(**cluster("P", client={"bootstrap.servers": "x:1"})), "has a key bootstrap_servers for it"),
    (changed(**cluster("P", client={"secruity.protocol": "SSL"})), '"secruity.protocol" cannot be translated'),
    (changed(**topic(replication_factor=0)), 'The topic "T" has replication_factor 0, wanted at least 1'),
    (changed(**topic(partitions=10**9)), "1000000000 partitions, wanted at most"),
    (changed(flow={"replication_factor": -1}), "kafka_dr_flow.replication_factor is -1"),
    (changed(**topic(name="x" * 248)), "its replica's name would have 250 characters"),
    (changed(**topic(name="x" * 242), salvage="replay"), "cannot be replayed into a topic of its own: the name would"),
    (
        changed(topics=[{"name": name, "partitions": 1} for name in ("a.b", "a_b")], groups=[], clients=[]),
        'The topics "a.b" and "a_b" would both be on P',
    ),
    (changed(journal_topic="Payments"), 'kafka_dr_journal_topic is "Payments", which is a topic of the pair'),
    (changed(journal_topic="P.Payments"), "which is a topic of the pair"),
    (changed(journal_topic="kafka-dr-state-internal"), "latest state"),
    (changed(journal_topic="connect-offsets"), "belongs to Kafka, Kafka Connect or MirrorMaker 2"),
    (changed(journal_topic="__consumer_offsets"), "belongs to Kafka, Kafka Connect or MirrorMaker 2"),
    (changed(journal_topic="a b"), "not a valid topic name"),
    (changed(drain_timeout=float("nan")), "kafka_dr_drain_timeout must be a number from 0 to 1e+09, found float nan"),
    (changed(stop_timeout="inf"), 'kafka_dr_stop_timeout must be a number from 1 to 1e+09, found str "inf"'),
    (changed(idle_settle=-1), "kafka_dr_idle_settle must be a number from 0"),
    (changed(checkpoint_timeout="601"), "kafka_dr_checkpoint_timeout must be a number from 1 to 600"),
    (changed(groups=["settlement", ""]), 'kafka_dr_groups names ""'),
    (changed(groups=["settlement", "a\nb"]), r'kafka_dr_groups names "a\nb"'),
    (
        changed(accept_foreign_writers="Paymets"),
        'kafka_dr_accept_foreign_writers names the unknown topic "Paymets". Did you mean',
    ),
    (changed(accept_tail=[{"name": "Payments"}]), "kafka_dr_accept_tail must be a list of names"),
    (changed(drop=["Payments"]), 'kafka_dr_drop names "Payments", which kafka_dr_topics lists.'),
    (changed(drop="gone, settlement"), 'kafka_dr_drop names "settlement", which kafka_dr_groups lists.'),
    (changed(ready_accept=["no_such"]), 'kafka_dr_ready_accept names the unknown check "no_such"'),
    (changed(audit_accept={"Paymets": ["FOREIGN"]}), 'kafka_dr_audit_accept names the unknown topic "Paymets"'),
    (
        changed(audit_accept={"Payments": ["FORREIGN"]}),
        'unknown kind "FORREIGN" for "Payments". Did you mean "FOREIGN"',
    ),
    (changed(audit_accept={"Payments": "FOREIGN"}), "needs a list of kinds"),
    (changed(fence_logins={"User:x": {}}), 'kafka_dr_fence_logins names the principal "User:x"'),
    (
        changed(fence_logins={"User:t": {"bootstrap.servers": "h:1"}}, **client(principal="User:t")),
        'kafka_dr_fence_logins["User:t"] sets "bootstrap.servers"',
    ),
    (changed(**topic(config={5: 1})), 'The topic "T" has the config 5: 1'),
    (changed(**topic(config={"retention.ms": {}})), "wanted the name of a topic setting"),
    (changed(**client(endpoint_mode="9999")), 'The client "till" has the endpoint_mode "9999"'),
    (changed(**client(endpoint_file="kafka.env")), 'has the endpoint_file "kafka.env", wanted an absolute path'),
    (
        changed(**client(start=[""])),
        "kafka_dr_clients[0].start must be a list of texts that are neither empty nor contain NUL",
    ),
    (changed(**client(start=["a\0b"])), "nor contain NUL"),
    (changed(stop_timeout=0), "kafka_dr_stop_timeout must be a number from 1"),
    (changed(**client(stop=["down", 5])), "kafka_dr_clients[0].stop must be a list of texts"),
    (changed(**client(principal="payments-api")), 'has the principal "payments-api", wanted one such as'),
    (changed(**client(principal="User:*")), 'has the principal "User:*"'),
    (changed(**client(group="settlement")), 'is a producer and names the group "settlement"'),
    (
        changed(
            clients=[
                {**GOOD["clients"][0], "name": name, "start": [name], "endpoint_file": "/etc/k.env"}
                for name in ("a", "b")
            ]
        ),
        'The clients "a" and "b" on "localhost" have the same endpoint_file "/etc/k.env"',
    ),
    # settings of the flows
    (
        flow(source_settings={"transforms": "route"}),
        'kafka_dr_flow.source_settings: The setting "transforms" is "route"',
    ),
    (flow(settings={"source.consumer.isolation.level": "read_uncommitted"}), "kafka_dr_flow.settings: The setting"),
    (flow(settings={"value.converter": None}), 'The setting "value.converter" is null'),
    (flow(source_settings={"heartbeats.replication.enabled": True}), '"heartbeats.replication.enabled" is "true"'),
    (flow(checkpoint_settings={"groups": ".*"}), 'The setting "groups" comes from the option groups'),
    (flow(heartbeat_settings={"tasks.max": 3}), 'kafka_dr_flow.heartbeat_settings: The setting "tasks.max"'),
    (flow(source_settings={"producer.override.bootstrap.servers": "b:9092"}), "correct only for one of them"),
    (flow(source_settings={"source.consumer.bootstrap.servers": "x:9092"}), "come from its clusters"),
    (flow(source_settings={"topics.exclude": "Pay.*"}), 'excludes the topic "Payments"'),
    (flow(settings={"groups.exclude": "settlement"}), 'excludes the group "settlement"'),
    (flow(settings={5: 1}), "kafka_dr_flow.settings has the key 5"),
    (flow(settings={"offset.lag.max": {}}), 'kafka_dr_flow.settings has the value dict for "offset.lag.max"'),
    (flow(settings={"offset.lag.max": float("nan")}), 'kafka_dr_flow.settings has the value nan for "offset.lag.max"'),
    (flow(settings={"offset.lag.max": "ten"}), 'The setting "offset.lag.max" is "ten", wanted a whole number.'),
    (flow(settings={"emit.checkpoints.enabled": "ja"}), '"emit.checkpoints.enabled" is "ja", wanted true or false.'),
    (flow(heartbeat_settings={"emit.heartbeats.interval.seconds": 0.5}), 'seconds" is "0.5", wanted a whole number'),
    (changed(spark_memory=""), 'kafka_dr_spark_memory is ""'),
    (changed(**sites(), flow={"settings": {"offset.lag.max": None}}), 'kafka_dr_engine "srm" cannot remove'),
    # Names that are needed later.
    (
        changed(topics=[{"name": name, "partitions": 1} for name in ("T", "T.salvage")], groups=[], clients=[]),
        'The topic "T.salvage" has the name that salvage uses for restored records of "T"',
    ),
    (
        changed(topics=[{"name": name, "partitions": 1} for name in ("P.T", "T.salvage")], groups=[], clients=[]),
        "begins with the alias",
    ),
    (
        changed(topics=[{"name": name, "partitions": 1} for name in ("a", "a_salvage")], groups=[], clients=[]),
        'The topics "a_salvage" and "a.salvage" would both be on P',
    ),
    (changed(journal_topic="Payments.salvage"), 'kafka_dr_journal_topic is "Payments.salvage", which salvage uses'),
    (changed(journal_topic="orders_eu"), 'The topics "orders.eu" and "orders_eu" would both be on P'),
    (
        changed(**topic(name="P_checkpoints_internal"), separator="_", policy="identity"),
        'The topic "P_checkpoints_internal" has the name that MirrorMaker 2 uses for its checkpoints',
    ),
    # One worker group for both flows.
    (changed(**cluster("B", connect_url="http://p:8083")), 'Both clusters have the same connect_url "http://p:8083"'),
    (changed(**cluster("B", connect_url="HTTP://P:8083/")), "Both clusters have the same connect_url"),
    (changed(**cluster("B", connect_url="http://b:8083, http://p:8083")), "Both clusters have the same connect_url"),
    (changed(**cluster("B", connect_url="http://b:8083,b2:8083")), 'connect_url is "b2:8083", wanted an address'),
    # values of a run
    (changed(metrics_file="kafka_dr.prom"), 'kafka_dr_metrics_file is "kafka_dr.prom", wanted an absolute path'),
    (changed(metrics_file="/var/kafka_dr.txt"), 'kafka_dr_metrics_file is "/var/kafka_dr.txt"'),
    (changed(metrics_file="/var/.prom"), 'kafka_dr_metrics_file is "/var/.prom"'),
    (changed(spark_memory="1gb"), 'kafka_dr_spark_memory is "1gb", wanted a whole number and one of the letters'),
    (changed(spark_memory="1024"), 'kafka_dr_spark_memory is "1024"'),
    (changed(spark_memory="1.5g"), 'kafka_dr_spark_memory is "1.5g"'),
    (changed(spark_memory="100m"), 'kafka_dr_spark_memory is "100m"'),
    (changed(spark_conf={"spark.executor.memory": []}), "kafka_dr_spark_conf has the value list"),
    (changed(spark_conf={"executor.memory": "1g"}), 'kafka_dr_spark_conf has the key "executor.memory"'),
    (
        changed(rehearsal_principal="rehearsal"),
        'kafka_dr_rehearsal_principal is "rehearsal", wanted one such as "User:rehearsal"',
    ),
    (changed(rehearsal_principal="User:*"), 'kafka_dr_rehearsal_principal is "User:*"'),
    (changed(rehearsal_client={"group.id": "x"}), 'kafka_dr_rehearsal_client sets "group.id"'),
    (changed(run_on=""), "kafka_dr_run_on is empty"),
    (changed(applications_on="C"), 'kafka_dr_applications_on is "C", which is not in kafka_dr_clusters.'),
    (contradicting(["Payments"], ["Payments", "orders.eu"]), '"audit" has the topics Payments, its clients "auditor"'),
    (contradicting(["Payments", "orders.eu"], ["Payments"]), 'its clients "auditor" read Payments. Declare the same'),
]


@pytest.mark.parametrize(("variables", "expected"), BAD, ids=[expected[:60] for _variables, expected in BAD])
def test_a_bad_inventory_is_refused_by_name(variables: dict[str, Any], expected: str) -> None:
    assert expected in refusal(variables).message


# Problems that show only once another variable is right. A name missing from an incomplete list might be right, and the
# names of replicas follow from the policy and the separator.
AFTER = {
    "accept_foreign_writers": {"clusters", "policy", "topics"},
    "accept_skips": {"groups"},
    "applications_on": {"clusters"},
    "audit_accept": {"topics"},
    "clients": {"groups", "topics"},
    "clusters": {"engine"},
    "drop": {"groups", "topics"},
    "engine": {"clusters"},
    "fence_logins": {"clients"},
    "accept_undeclared": {"groups"},
    "flow": {"engine", "groups", "topics"},
    "groups": {"topics"},
    "home": {"clusters"},
    "journal_topic": {"clusters", "policy", "separator", "topics"},
}


def unlike_good(variables: dict[str, Any]) -> set[str]:
    """The variables in which an inventory differs from the valid one."""
    return {name for name in {*variables, *GOOD} if variables.get(name) != GOOD.get(name)}


def test_two_independent_problems_are_shown_in_one_refusal() -> None:
    """For a sample of the 6,000 pairs of the problems above: if they are in different variables, both are shown."""
    single = [(next(iter(names)), bad, expected) for bad, expected in BAD if len(names := unlike_good(bad)) == 1]
    pairs = [(one, two) for one, two in itertools.combinations(single, 2) if one[0] != two[0] and one[2] != two[2]]
    seed = random.SystemRandom().randrange(10**6)
    for (name, bad, expected), (other, more, also) in random.Random(seed).sample(pairs, 600):
        rest = {key: value for key, value in more.items() if key != name}
        message = refusal({**rest, name: bad[name]} if name in bad else rest).message
        assert expected in message or other in AFTER.get(name, ()), (seed, expected, message)
        assert also in message or name in AFTER.get(other, ()), (seed, also, message)


def test_each_problem_is_shown_only_once() -> None:
    text = refusal(changed(**topic(name="a b", partitions=0), home="A", spark_memory="1")).message
    assert text.count('"a b" is not a valid') == text.count("at least 1 partition") == text.count("spark_memory") == 1


def test_clients_of_a_group_of_hosts_and_of_a_host_in_it_must_not_share_an_endpoint_file() -> None:
    base = {"role": "producer", "stop": ["down"], "endpoint_file": "/etc/k.env"}
    clients = [
        {**base, "name": "all", "hosts": "web", "start": ["a"]},
        {**base, "name": "one", "hosts": "web2", "start": ["b"], "endpoint_file": "/etc//k.env"},
        {**base, "name": "other", "hosts": "db1", "start": ["c"]},
    ]
    hosts = {"all": ["web1", "web2", "db1"], "ungrouped": ["db1"], "web": ["web1", "web2"], "tomcat": ["web2", "web1"]}
    given_ = changed(groups=[], clients=clients)
    derive_pair(copy.deepcopy(given_))
    with pytest.raises(DrError, match='"all" and "one" on "web2" have the same endpoint_file "/etc/k'):
        derive_pair(copy.deepcopy(given_), hosts=hosts)
    given_["clients"][1]["hosts"] = "tomcat"
    with pytest.raises(DrError) as refused:
        derive_pair(copy.deepcopy(given_), hosts=hosts)
    assert refused.value.message.count("endpoint_file") == 1
    # Declarations of one process may share a file, and so may clients on different hosts.
    given_["clients"][1]["start"] = ["a"]
    derive_pair(given_, hosts=hosts)


def test_hosts_missing_from_the_ansible_inventory_are_refused_with_all_other_problems() -> None:
    hosts: dict[str, list[str]] = {"all": ["app1"], "ungrouped": ["app1"], "web": []}
    for name in ("app1", "localhost", "ungrouped"):
        derive_pair(changed(**client(hosts=name)), hosts=hosts)
    for name, problem in {"app2": "neither a host nor a group", "web": "which is an empty group"}.items():
        with pytest.raises(DrError) as refused:
            derive_pair(changed(**client(hosts=name), home="A"), hosts=hosts)
        assert f'The client "till" has hosts "{name}"' in refused.value.message
        assert problem in refused.value.message
        assert "kafka_dr_home" in refused.value.message


def test_one_run_shows_all_problems() -> None:
    text = refusal(changed(topcis=1, **topic(name="P.x", partitions=0), home="A")).message
    assert all(part in text for part in ("kafka_dr_topcis", "begins with the alias", "at least 1", "kafka_dr_home"))


def test_a_topic_whose_name_merely_starts_with_an_alias_is_no_replica() -> None:
    assert derive_pair(changed(**topic(name="P")))["flows"]["P->B"]["replicas"] == {"P": "P.P"}


RESULTS = ["verdict", "outcome", "active", "run", "ready_controlled", "ready_disaster"]


@pytest.mark.parametrize("name", RESULTS)
def test_set_stats_values_of_an_earlier_awx_job_are_accepted_and_change_nothing(name: str) -> None:
    """AWX passes the values of ``set_stats`` to the next job of a workflow as extra variables."""
    assert derive_pair(changed(**{name: "B"})) == derive_pair(GOOD)


@pytest.mark.parametrize("given", ["Payments, orders.eu", "Payments\norders.eu\n", ["Payments", "orders.eu"]])
def test_names_may_be_given_as_text(given: str | list[str]) -> None:
    """``-e`` and AWX surveys pass lists of names as text."""
    assert derive_pair(changed(accept_foreign_writers=given)) == {
        **derive_pair(GOOD),
        "accept_foreign_writers": names(given),
    }
    assert names(given) == ["Payments", "orders.eu"]


def test_an_empty_survey_answer_names_nothing() -> None:
    assert names("") == names([]) == []


def test_with_srm_the_workers_need_no_address_and_offset_syncs_are_on_the_source() -> None:
    """R27: with Streams Replication Manager no ``connect_url`` is needed."""
    given = changed(**sites())
    given["clusters"] = {alias: {**one, "connect_url": None} for alias, one in given["clusters"].items()}
    pair = derive_pair(given)
    assert {name: (flow["syncs"]["on"], flow["syncs"]["topic"]["name"]) for name, flow in pair["flows"].items()} == {
        "P->B": ("P", "mm2-offset-syncs.B.internal"),
        "B->P": ("B", "mm2-offset-syncs.P.internal"),
    }
    manager = {"url": "https://cm-P:7183", "client": {}, "api_version": None, "cluster": "Cluster 1", "service": None}
    assert pair["clusters"]["P"]["srm"] == {**manager, "reverse_checkpointing": "auto"}
    assert pair["srm"]["B"]["command"] == ["srm-control"]
    assert derive_pair(GOOD)["clusters"]["P"]["srm"] is None


def test_variables_of_a_run_and_of_a_role_are_known() -> None:
    derive_pair(changed(to="B", confirm="B", type="cutoff", lower="keep", drain_timeout="30"))
    derive_pair(changed(lab_dir="/x"), {"lab_dir": Key()})
    assert "lab_dir" in refusal(changed(lab_dir="/x")).message


def test_the_given_variables_are_not_modified() -> None:
    given_ = copy.deepcopy(GOOD)
    derive_pair(given_)
    assert given_ == GOOD


# ---- derived values


def test_the_pair_of_a_good_inventory() -> None:
    pair = derive_pair(GOOD)
    assert (pair["name"], pair["home"], pair["away"]) == ("B-P", "P", "B")
    assert (pair["engine"], pair["policy"], pair["separator"], pair["run_on"]) == (
        "connect",
        "default",
        ".",
        "localhost",
    )
    assert (pair["groups"], pair["local_groups"]) == (["settlement", "audit"], ["probe"])
    assert pair["clusters"]["B"]["alias"] == "B"
    assert list(pair["flows"]) == ["P->B", "B->P"]


def places(value: Any, name: str, at: tuple[str, ...] = ()) -> set[tuple[str, ...]]:
    """The places of a name in a structure, as a key or within a text."""
    if isinstance(value, dict):
        return {(*at, name) for key in value if key == name}.union(
            *(places(one, name, (*at, str(key))) for key, one in value.items())
        )
    if isinstance(value, list | tuple):
        return set().union(*(places(one, name, at) for one in value))
    return {at} if isinstance(value, str) and name in value else set()


@pytest.mark.parametrize("more", [{}, {"policy": "identity"}, sites()], ids=["connect", "identity", "srm"])
def test_a_local_group_appears_in_no_derived_value(more: dict[str, Any]) -> None:
    """R8: MirrorMaker 2, SRM, translation and commits never get the name of a group that is on both clusters.

    Modules get it as a group that stays, so that a preflight does not refuse it.
    """
    pair = laid_out(derive_pair(changed(**more)))
    denied = {("lists", alias, "always", "denied") for alias in pair["clusters"] if more.get("engine") == "srm"}
    assert places(pair, "probe") == {("local_groups",), ("spec", "local_groups")} | denied
    assert {"groups"} <= {at[0] for at in places(pair, "settlement")}


def test_a_flow_runs_on_the_workers_beside_its_target() -> None:
    flows = derive_pair(GOOD)["flows"]
    assert flows["P->B"]["connect_url"] == "http://b:8083"
    assert flows["P->B"]["replicas"] == {"Payments": "P.Payments", "orders.eu": "P.orders.eu"}
    assert (flows["B->P"]["source"], flows["B->P"]["target"], flows["B->P"]["connect_url"]) == (
        "B",
        "P",
        "http://p:8083",
    )


def test_the_name_of_a_pair_does_not_depend_on_its_home() -> None:
    assert derive_pair(changed(home="B"))["name"] == derive_pair(GOOD)["name"]


def test_the_topics_of_a_group_are_the_declared_ones_or_else_those_of_its_clients() -> None:
    assert derive_pair(GOOD)["group_topics"] == {"settlement": ["Payments", "orders.eu"], "audit": ["orders.eu"]}
    narrow = copy.deepcopy(GOOD)
    narrow["clients"][1]["topics"] = ["Payments"]
    assert derive_pair(narrow)["group_topics"]["settlement"] == ["Payments"]


def test_a_group_and_its_clients_may_declare_the_same_topics_and_a_client_without_topics_contradicts_nothing() -> None:
    assert derive_pair(contradicting(["Payments"], ["Payments"]))["group_topics"] == {"audit": ["Payments"]}
    assert derive_pair(contradicting(["Payments"], []))["group_topics"] == {"audit": ["Payments"]}


def test_the_journal_never_expires_and_has_the_highest_replication_factor() -> None:
    """R25: the journal topic has unlimited retention and at least the highest replication factor of any topic."""
    journal = derive_pair(GOOD)["journal"]
    assert (journal["partitions"], journal["replication_factor"]) == (1, 3)
    assert (journal["config"]["cleanup.policy"], journal["config"]["retention.ms"]) == ("delete", -1)
    assert journal["config"]["retention.bytes"] == -1


def test_the_admin_client_is_the_client_unless_it_is_given() -> None:
    pair = derive_pair(changed(**cluster("P", client={"client.id": "a"}, admin_client={"client.id": "admin"})))
    assert pair["clusters"]["P"]["admin_client"] == {"client.id": "admin"}
    pair = derive_pair(changed(**cluster("P", client={"client.id": "a"})))
    assert pair["clusters"]["P"]["admin_client"] == {"client.id": "a"}


def test_a_client_without_a_topic_list_reads_every_topic() -> None:
    till, settle = derive_pair(GOOD)["clients"]
    assert (till["topics"], settle["topics"]) == (["Payments"], ["Payments", "orders.eu"])


# ---- the order of clients


def ordered(**after: list[str]) -> list[str] | None:
    return cutover_order([{"name": name, "after": names} for name, names in after.items()])


@pytest.mark.parametrize(
    ("after", "order"),
    [
        ({}, []),
        ({"a": [], "b": []}, ["a", "b"]),
        ({"a": ["b"], "b": []}, ["b", "a"]),
        ({"a": ["b", "c"], "b": ["c"], "c": []}, ["c", "b", "a"]),
        ({"a": ["a"]}, None),
        ({"a": ["b"], "b": ["a"], "c": []}, None),
    ],
)
def test_clients_start_after_the_clients_they_depend_on(after: dict[str, list[str]], order: list[str] | None) -> None:
    """R17: the start order follows the declared dependencies."""
    assert ordered(**after) == order


@given(st.permutations(range(7)), st.data())
def test_any_acyclic_order_is_kept(numbers: list[int], data: st.DataObject) -> None:
    """R17: the order is topological."""
    edges = {number: data.draw(st.lists(st.sampled_from(range(7)), max_size=3)) for number in numbers}
    after = {f"c{number}": [f"c{other}" for other in edges[number] if other < number] for number in numbers}
    order = ordered(**after)
    assert order is not None
    assert sorted(order) == sorted(after)
    assert all(order.index(earlier) < order.index(name) for name, names in after.items() for earlier in names)


# ---- mappings --


@pytest.mark.parametrize(
    ("value", "key", "problem"),
    [
        ({"a": 1}, Key("int"), None),
        ({"a": 1.5}, Key("float"), None),
        ({"a": 1}, Key("float"), None),
        ({"a": True}, Key("float"), "must be of type float"),
        ({"a": "yes"}, Key("bool"), "must be of type bool"),
        ({"a": "False"}, Key("flag"), None),
        ({"a": True}, Key("flag"), None),
        ({"a": "ture"}, Key("flag"), 'must be true or false, found str "ture"'),
        ({"a": 1}, Key("flag"), "must be of type flag"),
        ({"a": ()}, Key("list"), None),
        ({"a": "60"}, Key("number"), None),
        ({"a": "nan"}, Key("number"), "must be a number from 0"),
        ({"a": True}, Key("number"), "must be a number from 0"),
        ({"a": ["x"]}, Key("words"), None),
        ({"a": ["x", ""]}, Key("words"), "must be a list of texts"),
        ({}, Key("int"), None),
        ({"a": None}, Key("int"), None),
        ({"a": None}, Key("int", required=True), "needs the key"),
        ("text", Key(), "must be a dictionary"),
        (None, Key(), "must be a dictionary"),
    ],
)
def test_check_mapping(value: Any, key: Key, problem: str | None) -> None:
    _filled, problems = check_mapping("x", value, {"a": key})
    assert [problem in text for text in problems if problem] == ([True] if problem else [])
    assert bool(problems) is (problem is not None)


class Tagged(str):
    """A subclass of str, as Ansible passes text."""


@pytest.mark.parametrize(
    ("value", "shown"),
    [(Tagged("3"), 'str "3"'), ("", 'str ""'), (True, "bool True"), (1.5, "float 1.5"), ([1], "list [1]")],
)
def test_a_wrong_value_is_reported_with_its_plain_type(value: Any, shown: str) -> None:
    assert check_mapping("x", {"a": value}, {"a": Key("int")})[1] == [f"x.a must be of type int, found {shown}."]


def test_a_long_value_is_shortened_in_the_message() -> None:
    text = check_mapping("x", {"a": "y" * 500}, {"a": Key("int")})[1][0]
    assert len(text) < 100


@pytest.mark.parametrize(
    ("name", "known", "hint"),
    [("topcis", ["topics", "groups"], ' Did you mean "topics"?'), ("zzz", ["topics"], ""), ("x", [], "")],
)
def test_nearest_suggests_the_closest_name(name: str, known: list[str], hint: str) -> None:
    assert nearest(name, known) == hint
