# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The audit on a Spark standalone cluster: executors are other processes, which receive the program from the driver."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from audits import run_audit, small_plan
from kafka_dr_audit.session import CONNECTORS, SPARK, default_cache
from lab.lab import Lab
from spark_cluster import standalone

PROGRAM = Path(__file__).parents[2] / "spark" / "kafka_dr_audit" / "__main__.py"

pytestmark = [pytest.mark.integration, pytest.mark.timeout(400)]


@pytest.fixture
def master(tmp_path: Path) -> Iterator[str]:
    """A master and a worker with one core."""
    with standalone(tmp_path) as address:
        yield address


def test_a_standalone_cluster_proves_the_same(lab: Lab, master: str, tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text(json.dumps(small_plan(lab)))
    # There is no network except the loopback interface, so the driver must be reachable there.
    more = ("--master", master, "--conf", "spark.driver.host=127.0.0.1", "--conf", "spark.executor.memory=512m")
    done = run_audit(tmp_path / "plan.json", tmp_path / "out", *more)
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "out" / "audit.json").read_text())["records"] == {"source": 20, "target": 20}


def test_spark_submit_reports_its_master(lab: Lab, master: str, tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text(json.dumps(small_plan(lab)))
    # This fetches the connector, as every audit does at its first run.
    assert run_audit(tmp_path / "plan.json", tmp_path / "first").returncode == 0
    jars = ",".join(str(default_cache() / "jars" / name) for name in CONNECTORS[SPARK])
    done = submit(tmp_path, "--master", master, "--conf", "spark.driver.host=127.0.0.1", "--jars", jars)
    assert done.returncode == 0, done.stderr
    assert "PROVEN" in done.stdout
    applications = [path.name for path in (tmp_path / "work").iterdir()]
    assert len(applications) == 1, "the standalone cluster's worker ran it"

    done = submit(tmp_path, "--master", "local[1]")
    assert done.returncode == 2
    # Spark's launcher prints both streams of the program to its standard output.
    assert "UNKNOWN: spark-submit was started without the Kafka connector. Add --jars" in done.stdout


def submit(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    program = Path(sys.executable).parent / "spark-submit"
    command = [str(program), *options, str(PROGRAM), str(folder / "plan.json"), "--output", str(folder / "out")]
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=200, check=False)
