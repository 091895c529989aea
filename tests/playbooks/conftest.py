# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The playbooks on a lab of their own, driven as a user drives them."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator

import pytest

from kube_apiserver import missing
from scenario import Scenario
from schemas import require_valid

Scenario.inspect = staticmethod(require_valid)

# Drawn once per run, because all workers must collect the same tests.
os.environ.setdefault("KAFKA_DR_SEED", str(random.SystemRandom().randrange(1, 10**6)))

CLIENTS = [
    {"name": "payments-api", "role": "producer", "rate": 1000},
    {"name": "settlement", "role": "consumer", "group": "settlement"},
    {"name": "fraud", "role": "consumer", "group": "fraud"},
]


@pytest.fixture(scope="session")
def api_server() -> None:
    """Skip where the programs of an API server are not in the cache."""
    reason = missing()
    if reason:
        pytest.skip(reason)


# These start first if two pairs run at a time. Otherwise the last one would run alone.
LONGEST = ("test_srm.py", "test_round_trip.py")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give playbooks longer timeouts than modules, because the machine may be shared."""
    items.sort(key=lambda item: item.path.name not in LONGEST)
    for item in items:
        if "playbooks" in item.path.parts:
            item.add_marker(pytest.mark.timeout(900))


@pytest.fixture(scope="module")
def scenario(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scenario]:
    """Two clusters, two workers, one producer, two groups. Nothing is enabled or started yet."""
    with Scenario(tmp_path_factory.mktemp("pair"), clients=CLIENTS).up() as made:
        yield made


@pytest.fixture(scope="module")
def enabled(scenario: Scenario) -> Scenario:
    """The same, with both flows running and the applications on P."""
    scenario.playbook("enable", {"kafka_dr_confirm": "P"})
    return scenario
