# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The audit as a program of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from lab.lab import Lab

ROOT = Path(__file__).resolve().parents[2]


def run_audit(
    plan: Path, output: Path, *more: str, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    command = [
        sys.executable,
        "-m",
        "kafka_dr_audit",
        str(plan),
        "--output",
        str(output),
        *(() if "--master" in more else ("--master", "local[2]")),
        *more,
    ]
    own = {**os.environ, "PYTHONPATH": str(ROOT / "spark"), **(environment or {})}
    return subprocess.run(command, capture_output=True, text=True, env=own, timeout=500, check=False)


def small_plan(lab: Lab) -> dict[str, Any]:
    """A plan of one small topic pair that is proven."""
    every = {"start": None, "end": None}
    now = int(time.time() * 1000)  # The same on both clusters, and not older than any retention.
    clusters = {}
    for alias, found in lab.info()["clusters"].items():
        servers = found["bootstrap_servers"]
        admin = AdminClient({"bootstrap.servers": servers})
        name = "bad-input" if alias == "P" else "P.bad-input"
        if name not in admin.list_topics(timeout=15).topics:
            admin.create_topics([NewTopic(name, 1, 1)])[name].result()
            producer = Producer({"bootstrap.servers": servers})
            for number in range(20):
                producer.produce(name, b"%d" % number, timestamp=now + number)
            assert producer.flush(20) == 0
        clusters[alias] = {"cluster_id": admin.describe_cluster().result().cluster_id, "bootstrap_servers": servers}
    return {
        "schema": "switchback.kafka_dr/audit-plan/2",
        "run": "none",
        "pair": "B-P",
        "clusters": clusters,
        "topics": [
            {
                "name": "bad-input",
                "source": {"cluster": "P", "topic": "bad-input"},
                "target": {"cluster": "B", "topic": "P.bad-input"},
                "mode": "complete",
                "partitions": [{"partition": 0, "source": every, "target": every}],
            }
        ],
    }
