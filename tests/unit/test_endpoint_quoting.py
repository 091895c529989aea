# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A value in an endpoint file is read unchanged by a shell, by systemd and by the ledger."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import jinja2
import pytest
from ansible.plugins.filter.core import FilterModule

from envfile import read_by_shell, read_by_systemd, systemd_library
from ledger.endpoint import parse_endpoint

ROOT = Path(__file__).resolve().parents[2]
KEYS = ("KAFKA_BOOTSTRAP_SERVERS", "KAFKA_CLIENT_CONFIG", "KAFKA_TOPICS")
COUNT = 1000
# This includes line separators other than "\\n": a reader that splits at all of them would truncate the value.
NASTY = "'\"\\$`!#;=~*?()[]{}<>|&%^:,/ \taZ09-_.\u00e9\u20ac\u4e2d\U0001f600\x7f\x01\x0b\x85\u2028"
EDGES = ["", "'", "''", '"', "\\", "\\'", "'\\", " ", " a ", "$HOME", "$(id)", "`id`", "a#b", "#", "~", "!!", "'\"'\"'"]


def template_of(path: str) -> jinja2.Template:
    """An endpoint template of a role, with Ansible's own filters."""
    environment = jinja2.Environment(keep_trailing_newline=True, undefined=jinja2.StrictUndefined)
    environment.filters.update(FilterModule().filters())
    return environment.from_string((ROOT / "roles" / path).read_text(encoding="utf-8"))


def rendered(template: jinja2.Template, bootstrap: str, client: dict[str, Any]) -> str:
    """The endpoint file of a client on P."""
    endpoint = {
        "alias": "P",
        "bootstrap_servers": bootstrap,
        "topics": ["Payments", "Orders"],
        "subscribe": ["Payments", "B.Payments"],
        "client": client,
    }
    pair = {"rehearsal": {"logins": {"P": client}}}
    return template.render(clients_item={"name": "payments"}, kafka_dr_endpoint=endpoint, kafka_dr_pair=pair)


@pytest.mark.parametrize("path_of_template", ["clients/templates/kafka.env.j2", "rehearsal/templates/rehearsal.env.j2"])
def test_every_reader_gets_every_value_unchanged(tmp_path: Path, path_of_template: str) -> None:
    template = template_of(path_of_template)
    seed = random.randrange(2**32)
    print(f"seed {seed}, {COUNT} values")
    chance = random.Random(seed)
    texts = EDGES + ["".join(chance.choices(NASTY, k=chance.randint(1, 24))) for _value in range(COUNT - len(EDGES))]
    paths, wanted = [], []
    for number, text in enumerate(texts):
        # A line break is part of a PEM property. JSON writes it as two characters.
        client = {"sasl.password": text, "ssl.ca.pem": f"{text}\n{text}"}
        path = tmp_path / f"{number}.env"
        path.write_text(rendered(template, f"x{text}", client), encoding="utf-8")
        paths.append(path)
        wanted.append([f"x{text}", client, "Payments,Orders"])

    def read(values: list[str]) -> list[Any]:
        bootstrap, config, topics = values
        return [bootstrap, json.loads(config), topics]

    for shell in filter(None, map(shutil.which, ("sh", "dash", "bash"))):
        found = read_by_shell(shell, paths, KEYS)
        assert len(found) == COUNT
        for values, right in zip(found, wanted, strict=True):
            assert read(values) == right, (seed, shell)
    for path, right in zip(paths, wanted, strict=True):
        endpoint = parse_endpoint(path.read_text(encoding="utf-8"))
        assert [endpoint.bootstrap_servers, endpoint.client_config, ",".join(endpoint.topics)] == right, seed
    library = systemd_library()
    if library is None:
        pytest.skip("The shells and the ledger agree. No systemd on this machine: install it to check EnvironmentFile.")
    for path, right in zip(paths, wanted, strict=True):
        values = read_by_systemd(library, path)
        assert read([values[key] for key in KEYS]) == right, seed


def test_a_line_break_in_the_addresses_is_refused_with_the_client_name_but_not_the_value() -> None:
    endpoint = {"alias": "P", "bootstrap_servers": "p1.example.com:9092\nEVIL=1"}
    client = {"name": "payments-api", "endpoint_file": "/nowhere/kafka.env", "endpoint_template": "kafka.env.j2"}
    pair = {"clients": [client], "endpoints": {"P": {"payments-api": endpoint}}}
    role = "name=switchback.kafka_dr.clients tasks_from=render"
    given = json.dumps({"kafka_dr_pair": pair, "clients_alias": "P"})
    ansible = Path(sys.executable).with_name("ansible")
    done = subprocess.run(
        [ansible, "localhost", "-m", "ansible.builtin.include_role", "-a", role, "-e", given],
        env={**os.environ, "ANSIBLE_COLLECTIONS_PATH": str(ROOT / "build" / "collections"), "ANSIBLE_NOCOLOR": "true"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    output = " ".join((done.stdout + done.stderr).split())
    assert done.returncode == 2, output
    text = 'The bootstrap_servers of cluster P for application "payments-api" contain a line break'
    assert text in output.replace('\\"', '"')
    assert "EVIL" not in output
