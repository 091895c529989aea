# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""dr_discover_info on two clusters, open and secured: a few batched requests, and nothing unread counts as empty."""

from __future__ import annotations

import json
import uuid
from collections import Counter
from typing import Any

import pytest
import yaml

from ansible_collections.switchback.kafka_dr.plugins.modules import dr_discover_info, kafka_acl, kafka_topic
from ansible_collections.switchback.kafka_dr.tests.support.modules import run_module
from brokers import admin, commit
from lab.lab import Lab

pytestmark = pytest.mark.integration


def variables(lab: Lab, **more: Any) -> dict[str, Any]:
    """The few variables that discover needs."""
    clusters = lab.info()["clusters"]
    keys = ("bootstrap_servers", "connect_url")
    return {
        "kafka_dr_home": "P",
        "kafka_dr_clusters": {
            alias: {**{key: str(clusters[alias][key]) for key in keys}, **more} for alias in ("P", "B")
        },
    }


def servers_of(lab: Lab, alias: str) -> str:
    return str(lab.info()["clusters"][alias]["bootstrap_servers"])


def test_a_draft_names_topics_and_groups_with_few_requests(lab: Lab) -> None:
    mark = f"discover{uuid.uuid4().hex[:6]}"
    topics = [{"name": f"{mark}-{number}", "partitions": 2, "replication_factor": 1} for number in range(20)]
    topics[0]["config"] = {"retention.ms": "1000"}
    assert run_module(kafka_topic, {"bootstrap_servers": servers_of(lab, "P"), "topics": topics})["rc"] == 0
    client = admin(lab, "P")
    for group in (mark, f"connect-{mark}", f"console-consumer-{mark}"):
        commit(client, group, {(f"{mark}-0", 0): 0})
    # A cluster without groups needs no proof that it hides no topic, which is a request less.
    assert run_module(kafka_topic, {"bootstrap_servers": servers_of(lab, "B"), "topics": topics[:1]})["rc"] == 0
    commit(admin(lab, "B"), mark, {(f"{mark}-0", 0): 0})
    result = run_module(dr_discover_info, {"variables": variables(lab)})
    assert (result["rc"], result["changed"], result["drift"]) == (0, False, None), result
    draft = yaml.safe_load(result["draft"])
    by_name = {topic["name"]: topic for topic in draft["kafka_dr_topics"]}
    assert by_name[f"{mark}-0"] == {**topics[0], "config": {"retention.ms": "1000"}}
    assert by_name[f"{mark}-19"] == topics[19]
    groups = {group["name"]: group for group in draft["kafka_dr_groups"] if mark in group["name"]}
    assert groups == {
        mark: {"name": mark, "topics": [f"{mark}-0"]},
        f"connect-{mark}": {"name": f"connect-{mark}", "mode": "local"},
        f"console-consumer-{mark}": {"name": f"console-consumer-{mark}", "mode": "local"},
    }
    assert result["unread"] == []
    sent = Counter(request.get("api") for request in result["requests"])
    # The second describe of each cluster proves that no topic is hidden.
    assert (sent["list_topics"], sent["describe_topics"], sent["describe_configs"]) == (2, 4, 2)
    again = run_module(dr_discover_info, {"variables": variables(lab)})
    assert again["draft"] == result["draft"]


def test_what_a_login_may_not_read_is_a_question_and_no_secret_is_shown(secure_lab: Lab) -> None:
    security = secure_lab.paths.security
    result = run_module(
        dr_discover_info,
        {
            "variables": variables(
                secure_lab, client=secure_lab.client("consumer"), connect_client=security.rest_client()
            )
        },
    )
    assert result["rc"] == 0, result
    assert any("the ACLs of P could not be read" in text for text in result["unread"])
    assert any("may not describe" in todo for todo in result["todos"])
    assert security.password("consumer") not in json.dumps(result)


def test_a_principal_that_uses_internal_topics_is_no_application(secure_lab: Lab) -> None:
    mark = f"mirror{uuid.uuid4().hex[:6]}"
    cluster = secure_lab.info()["clusters"]["P"]
    admin_login = {"client": secure_lab.client("admin")}
    base = {"bootstrap_servers": str(cluster["bootstrap_servers"]), **admin_login}
    topic = {"name": mark, "partitions": 1, "replication_factor": 1}
    assert run_module(kafka_topic, {**base, "topics": [topic]})["rc"] == 0
    acls = [
        {"principal": f"User:{mark}", "operation": operation, "resource_type": "topic", "name": name}
        for name, operation in ((mark, "write"), ("mm2-offset-syncs.B.internal", "write"))
    ]
    assert run_module(kafka_acl, {**base, "expected_cluster_id": str(cluster["cluster_id"]), "acls": acls})["rc"] == 0
    options = variables(secure_lab, connect_client=secure_lab.paths.security.rest_client(), **admin_login)
    complete = run_module(dr_discover_info, {"variables": options})
    assert complete["unread"] == [], complete
    draft = " ".join(complete["draft"].replace("#", " ").split())
    assert f"User:{mark} (uses internal topics of MirrorMaker 2)" in draft
    assert "User:flow" not in draft, "it may write no original, so it is no application"
