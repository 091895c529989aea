# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The configuration of the lab's processes."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.configs import Cluster, Settings, broker, connect, jvm_options, properties, render

CLUSTER = Cluster("P", Path("/srv/lab/P"), "abcdefghijklmnopqrstuv", 11001, 11002, 11003)


def parsed(text: str) -> dict[str, str]:
    return dict(line.split("=", 1) for line in text.splitlines())


def test_everything_listens_on_the_loopback_address_only() -> None:
    values = parsed(render(CLUSTER, "broker", Settings()))
    assert values["listeners"] == "PLAINTEXT://127.0.0.1:11001,CONTROLLER://127.0.0.1:11002"
    assert values["advertised.listeners"] == "PLAINTEXT://127.0.0.1:11001"
    assert values["controller.quorum.voters"] == "1@127.0.0.1:11002"
    assert parsed(render(CLUSTER, "connect", Settings()))["listeners"] == "http://127.0.0.1:11003"


def test_connect_stores_its_topics_on_the_cluster_beside_it() -> None:
    values = connect(CLUSTER, Settings())
    assert values["bootstrap.servers"] == "127.0.0.1:11001"
    assert [values[f"{kind}.storage.topic"] for kind in ("config", "offset", "status")] == [
        "connect-P-configs",
        "connect-P-offsets",
        "connect-P-status",
    ]


@pytest.mark.parametrize(("heap", "session"), [(384, 2000), (768, 60_000)])
def test_a_large_lab_has_longer_timeouts_for_its_broker(heap: int, session: int) -> None:
    assert f"broker.session.timeout.ms={session}\n" in render(CLUSTER, "broker", Settings(heap_mb=heap))


def test_every_internal_topic_works_with_one_broker() -> None:
    factors = {**broker(CLUSTER), **connect(CLUSTER, Settings())}
    assert {value for key, value in factors.items() if "replication.factor" in key or "min.isr" in key} == {1}


def test_a_topic_is_never_created_by_a_typo() -> None:
    assert broker(CLUSTER)["auto.create.topics.enable"] == "false"


@pytest.mark.parametrize("kind", ["key", "value", "header"])
def test_connect_passes_records_unchanged(kind: str) -> None:
    assert str(connect(CLUSTER, Settings())[f"{kind}.converter"]).endswith("ByteArrayConverter")


def test_exactly_once_is_a_choice_of_the_user() -> None:
    assert connect(CLUSTER, Settings())["exactly.once.source.support"] == "disabled"
    assert connect(CLUSTER, Settings(exactly_once="enabled"))["exactly.once.source.support"] == "enabled"


def test_a_backslash_in_a_path_is_escaped_in_the_properties_format() -> None:
    assert properties({"log.dirs": "/srv/a\\b"}) == "log.dirs=/srv/a\\\\b\n"


def test_the_jvm_writes_below_the_folder_of_the_lab_only() -> None:
    options = jvm_options(Settings(heap_mb=256), Path("/srv/lab"), Path("/srv/lab/run/log4j2.properties"))
    assert "-Xmx256m" in options
    assert "-XX:-UsePerfData" in options  # Otherwise a file below /tmp.
    paths = [option.split("=", 1)[1] for option in options if "=/" in option]
    assert len(paths) == 3
    assert all(path.startswith("/srv/lab/") for path in paths)


@pytest.mark.parametrize("engine", ["aiven", "srm"])
def test_with_an_emulated_engine_the_worker_is_a_dedicated_mirrormaker_of_the_other_cluster(engine: str) -> None:
    values = connect(CLUSTER, Settings(engine=engine))
    assert values["group.id"] == "B-mm2"
    assert [values[f"{kind}.storage.topic"] for kind in ("config", "offset", "status")] == [
        "mm2-configs.B.internal",
        "mm2-offsets.B.internal",
        "mm2-status.B.internal",
    ]
