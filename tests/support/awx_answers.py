# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What arrives of answers and credentials, as the ``ansible-playbook`` of this environment reads them."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from awx_project import PROJECT, Loader, inject, kind_of, launched, questions, templates, written
from repository import ROOT

# A pair whose names YAML reads as a truth value, numbers and a date, unless they are in quotes.
HOME, AWAY = "NO", "0123"
TOPICS = ("017", "2026-01-01", "true")
PAIR: dict[str, Any] = {
    "kafka_dr_home": HOME,
    "kafka_dr_clusters": {
        alias: {"bootstrap_servers": f"127.0.0.1:{port}", "connect_url": f"http://127.0.0.1:{port}"}
        for port, alias in enumerate((HOME, AWAY), start=1)
    },
    "kafka_dr_topics": [{"name": name, "partitions": 1} for name in TOPICS],
}
ALIASES = ("kafka_dr_confirm", "kafka_dr_to", "kafka_dr_applications_on")
# What YAML and Ansible read as something else, if they get the chance.
WORDS = (
    *(
        "0123456",
        "0",
        "00",
        "1_000",
        "0x1F",
        "0b11",
        "1e5",
        ".5",
        "-0",
        "+7",
        "12:30:45",
        "2026-01-01",
        "2026-01-01T1:2:3",
    ),
    *(
        "true",
        "True",
        "NO",
        "no",
        "off",
        "y",
        "null",
        "Null",
        "~",
        "",
        "nan",
        ".inf",
        "<<",
        "=",
        "-",
        "?",
        "---",
        "...",
    ),
    *(
        '"quoted"',
        "'quoted'",
        "it's",
        'a"b',
        "\\",
        "\\n",
        "a: b",
        "a #b",
        "# a",
        "[1]",
        "{}",
        "{'a': 1}",
        "a,b",
        "&a",
        "*a",
    ),
    *("{{ 1 + 1 }}", "{% raw %}", "{# a #}", "!unsafe 'a'", "!vault a", "!", "@a", "`a`", "%a", "|", ">-"),
    *(
        "straße",
        "пароль",
        "密码",
        "🔑",
        "\u00a0",
        "a b",
        " a",
        "a ",
        "\ta",
        "a\n",
        "\n",
        "a\r\nb",
        "$HOME",
        "a=b",
        "<&>",
    ),
)
# The credentials of the example inventories.
KINDS = {"connect": ("clients", "Connect", "fence"), "srm": ("clients", "Cloudera Manager")}
SIDES = {"P": "home", "B": "away"}
SHOW = """\
- hosts: "{{ kafka_dr_run_on | default('localhost') | switchback.kafka_dr.run_whole }}"
  gather_facts: false
  tasks:
    - ansible.builtin.include_role:
        name: switchback.kafka_dr.kafka_dr
        public: true
        rolespec_validate: false
    - ansible.builtin.copy:
        content: "{{ dict(asked | zip(q('ansible.builtin.vars', *asked, default=none))) | to_json }}"
        dest: "{{ playbook_dir }}/arrived.json"
        mode: "0600"
"""
READ = """\
- hosts: localhost
  gather_facts: false
  tasks:
    - ansible.builtin.copy:
        content: >-
          {{ {'connect': groups.connect_pairs | map('extract', hostvars, 'kafka_dr_clusters'),
          'srm': groups.srm_pairs | map('extract', hostvars, 'kafka_dr_srm'),
          'fence': groups.connect_pairs | map('extract', hostvars, 'vault_fence_logins')} | to_json }}
        dest: "{{ playbook_dir }}/arrived.json"
        mode: "0600"
"""


def asked_for() -> dict[str, dict[str, Any]]:
    """Every variable of a survey, with a question for it."""
    return {one["variable"]: one for template in templates().values() for one in questions(template)}


def answer(question: Mapping[str, Any], last: bool = False) -> Any:
    """An answer to a question. ``last``: another one."""
    variable = question["variable"]
    if question["type"] == "multiplechoice":
        return question["choices"][-1 if last else 0]
    if question["type"] == "integer":
        return question.get("min", 0) + (7 if last else 5)
    if variable in ALIASES:
        return AWAY if last else HOME
    if variable == "kafka_dr_ready_accept":
        return "rights" if last else "versions"
    return TOPICS[0] if last else TOPICS[1]


def arrived(folder: Path, inventory: Mapping[str, Any], files: Iterable[str], *more: str) -> dict[str, Any]:
    """The value of every variable of a survey after the role has read its input.

    ``inventory``: its variables besides the pair; ``asked`` lists other variables than those of surveys. ``files``:
    each for ``-e @file``. ``more``: further options.
    """
    hosts = {"localhost": {"ansible_connection": "local", "ansible_python_interpreter": sys.executable}}
    asked = sorted(asked_for())
    (folder / "inventory.json").write_text(
        json.dumps({"all": {"hosts": hosts, "vars": {**PAIR, "asked": asked, **inventory}}})
    )
    (folder / "show.yml").write_text(SHOW)
    options = []
    for number, text in enumerate(files):
        (folder / f"extra{number}").write_text(text)
        options += ["-e", f"@{folder / f'extra{number}'}"]
    return _played(folder, "inventory.json", "show.yml", *options, *more)


def answers_of_all(given: Mapping[str, Any]) -> dict[str, Any]:
    """The extra variables of a job of each template with those of the answers ``given`` that it asks for."""
    found: dict[str, Any] = {}
    for template in templates().values():
        own = {one["variable"]: given[one["variable"]] for one in questions(template) if one["variable"] in given}
        found |= launched(template, own)
    return found


def check_answers(folder: Path) -> None:
    """No answers, empty answers and all answers, to an inventory that sets every variable of the surveys."""
    asked = asked_for()
    inventory = {name: answer(one, last=True) for name, one in asked.items()}
    required = {name: answer(one) for name, one in asked.items() if one["required"]}
    texts = {name for name, one in asked.items() if one["type"] == "text" and name not in required}
    empty = {**required, **dict.fromkeys(texts, "")}
    every = {name: answer(one) for name, one in asked.items()}
    own = templates()["status"]["extra_vars"]
    for name, answers, wanted in (
        ("none", required, {**inventory, **required}),
        ("empty", empty, {**inventory, **required}),
        ("all", every, every),
    ):
        (folder / name).mkdir(parents=True)
        found = arrived(folder / name, inventory, [written(answers_of_all(answers), own)])
        assert found == wanted, (name, {key: (found[key], wanted[key]) for key in wanted if found[key] != wanted[key]})


def check_secrets(folder: Path, count: int, seed: int) -> None:
    """``count`` random secrets, in the credentials of many pairs, arrive in the example inventories byte for byte."""
    rng = random.Random(seed)
    secrets = [*(_secret(rng) for _number in range(count)), *filter(None, WORDS)]
    given: dict[str, list[dict[str, dict[str, str]]]] = {engine: [] for engine in KINDS}
    inventory: dict[str, Any] = {}
    while secrets:
        for engine, kinds in KINDS.items():
            own = {kind: _filled(kind, secrets, rng) for kind in kinds}
            given[engine].append(own)
            place = folder / f"{engine}{len(given[engine])}"
            place.mkdir(parents=True)
            hosts = inventory.setdefault(f"{engine}_pairs", {"hosts": {}})["hosts"]
            hosts[place.name] = _variables(own, place)
    for engine in KINDS:
        examples = PROJECT / "inventories" / engine / "group_vars" / "all"
        shutil.copytree(examples, folder / "group_vars" / f"{engine}_pairs")
    (folder / "hosts.json").write_text(json.dumps(inventory))
    (folder / "read.yml").write_text(READ)
    found = _played(folder, "hosts.json", "read.yml")
    for own, clusters, fence in zip(given["connect"], found["connect"], found["fence"], strict=True):
        assert fence == json.loads(own["fence"]["logins"]), seed
        for alias, side in SIDES.items():
            client = clusters[alias]["admin_client"]
            assert _login(client, "sasl.") == _login(own["clients"], f"{side}_"), seed
            assert _login(clusters[alias]["connect_client"], "url_") == _login(own["Connect"], f"{side}_"), seed
            assert Path(client["ssl.ca.location"]).read_bytes() == own["clients"]["ca"].encode(), seed
    for own, sites in zip(given["srm"], found["srm"], strict=True):
        manager = own["Cloudera Manager"]
        for alias, side in SIDES.items():
            assert _login(sites[alias]["client"], "url_") == _login(manager, f"{side}_"), seed
            assert sites[alias]["secret"] == manager[f"{side}_secret"], seed


def _filled(kind: str, secrets: list[str], rng: random.Random) -> dict[str, str]:
    """A credential whose values are the next secrets."""
    fields = [field["id"] for field in kind_of(f"Kafka DR {kind}")["inputs"]["fields"]]
    values = {field: secrets.pop() if secrets else _secret(rng) for field in fields}
    return values if kind != "fence" else {"logins": json.dumps({"User:a": {"sasl.password": values["logins"]}})}


def _variables(credentials: Mapping[str, Mapping[str, str]], folder: Path) -> dict[str, str]:
    """The variables that a job gets from credentials: the paths of files."""
    found: dict[str, str] = {}
    for kind, inputs in credentials.items():
        injected = inject(kind_of(f"Kafka DR {kind}"), inputs, folder)
        assert not injected.environment
        found |= yaml.load(Path(injected.arguments[1].removeprefix("@")).read_text(), Loader)
    return {str(name): str(value) for name, value in found.items()}


def _login(values: Mapping[str, Any], prefix: str) -> list[Any]:
    return [values[f"{prefix}{key}"] for key in ("username", "password")]


def _secret(rng: random.Random) -> str:
    alphabet = rng.choice(("0123456789", "0123456789:._-", "abcXYZ012", "\"'\\{}%!#&*:,[]|>@` \t\n", "äöüß€😀 ñ"))
    return "".join(rng.choice(alphabet) for _character in range(rng.randint(1, 24)))


def _played(folder: Path, inventory: str, playbook: str, *options: str) -> dict[str, Any]:
    program = Path(sys.executable).with_name("ansible-playbook")
    done = subprocess.run(
        [program, "-i", folder / inventory, folder / playbook, *options],
        env={
            **os.environ,
            "ANSIBLE_COLLECTIONS_PATH": str(ROOT / "build" / "collections"),
            "ANSIBLE_NOCOLOR": "true",
            "ANSIBLE_LOCALHOST_WARNING": "false",
        },
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    result: dict[str, Any] = json.loads((folder / "arrived.json").read_text())
    return result
