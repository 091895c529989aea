# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Surveys x templates, and secrets: what AWX sends, and what arrives at the role and in the inventory."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible.parsing.vault import VaultLib, VaultSecret

from awx_answers import PAIR, answer, arrived, asked_for, check_answers, check_secrets
from awx_project import RefusedError, launched, questions, templates, written
from awx_runs import Awx
from yamls import load_yaml

ROOT = Path(__file__).resolve().parents[2]
SEED = int(os.environ.get("KAFKA_DR_SEED") or random.SystemRandom().randrange(1, 10**6))
TEMPLATES = sorted(templates())


def of_kind(playbook: str, required: bool) -> list[dict[str, Any]]:
    return [one for one in questions(templates()[playbook]) if one["required"] == required]


@pytest.mark.parametrize("playbook", TEMPLATES)
def test_a_launch_sends_the_answers_and_nothing_else(playbook: str) -> None:
    template = templates()[playbook]
    own = template["extra_vars"]
    required = {one["variable"]: answer(one) for one in of_kind(playbook, True)}
    optional = {one["variable"]: answer(one) for one in of_kind(playbook, False)}
    assert set(own) == {"kafka_dr_run_on"}
    assert launched(template, required) == {**own, **required}
    assert launched(template, {**required, **optional}) == {**own, **required, **optional}
    assert launched(template, {**required, "kafka_dr_drop": "Payments"}) == {**own, **required}


@pytest.mark.parametrize("playbook", TEMPLATES)
def test_awx_refuses_a_launch_without_a_confirmation(playbook: str) -> None:
    for question in of_kind(playbook, True):
        with pytest.raises(RefusedError, match=f"'{question['variable']}' value missing"):
            launched(templates()[playbook], {})
        with pytest.raises(RefusedError, match=f"'{question['variable']}' value  is too small"):
            launched(templates()[playbook], {question["variable"]: ""})


def test_awx_accepts_an_empty_text_for_a_required_question_without_min() -> None:
    question = {"variable": "a", "type": "text", "required": True}
    assert launched({"survey_spec": {"spec": [question]}, "extra_vars": {}}, {"a": ""}) == {"a": ""}


def test_awx_sends_a_default_without_an_answer() -> None:
    question = {"variable": "a", "type": "text", "required": False, "default": ""}
    assert launched({"survey_spec": {"spec": [question]}, "extra_vars": {}}, {}) == {"a": ""}


@pytest.mark.parametrize(("text", "read"), [("", None), ("0123456", 42798), ("true", True), ("12:30:45", 45045)])
def test_the_file_of_awx_marks_keys_and_texts_as_unsafe(text: str, read: Any) -> None:
    assert (
        written({"a": text, "b": 5, "c": "own"}, {"c": "own"})
        == f"!unsafe 'a': !unsafe '{text}'\n!unsafe 'b': 5\nc: own\n"
    )
    # What ansible-core 2.19 and later make of the text.
    assert yaml.safe_load(f"a: {text}")["a"] == read


def test_each_answer_arrives_and_without_one_the_value_of_the_inventory(tmp_path: Path) -> None:
    check_answers(tmp_path)


def test_an_empty_variable_of_the_inventory_does_not_hide_the_default(tmp_path: Path) -> None:
    defaults = load_yaml(ROOT / "roles/kafka_dr/defaults/main.yml")
    found = arrived(tmp_path, dict.fromkeys(asked_for()), [])
    assert found == {name: defaults.get(name) for name in asked_for()}


def test_a_later_extra_variable_wins_over_an_answer(tmp_path: Path) -> None:
    later = {"kafka_dr_accept_tail": 17, "kafka_dr_reason": "a"}
    with pytest.raises(AssertionError, match="kafka_dr_accept_tail must be of type names, found int 17"):
        arrived(tmp_path, {}, [written({"kafka_dr_accept_tail": "017"}, {}), written(later, {})])


def test_a_synchronisation_keeps_what_the_group_all_has_lost(tmp_path: Path) -> None:
    file = tmp_path / "hosts.yml"
    file.write_text("all: {hosts: {localhost: {}}, vars: {a: 1, b: 1}}")
    awx = Awx(tmp_path / "awx", file, {})
    file.write_text("all: {hosts: {localhost: {}}, vars: {a: 2}}")
    awx.synchronize()
    assert json.loads((tmp_path / "awx" / "inventory.json").read_text())["all"]["vars"] == {"a": 2, "b": 1}


def vaulted(folder: Path, **passwords: str) -> dict[str, Any]:
    """The pair of an inventory whose passwords are in an encrypted file. ``passwords``: as YAML."""
    key = folder / "key"
    key.write_text("vault password")
    vault = VaultLib([("default", VaultSecret(b"vault password"))])
    clusters = {
        alias: {**cluster, "client": {"security.protocol": "SASL_SSL", "sasl.password": f"{{{{ vault_{alias} }}}}"}}
        for alias, cluster in zip(("P", "B"), PAIR["kafka_dr_clusters"].values(), strict=True)
    }
    inventory = {"asked": ["kafka_dr_pair"], "kafka_dr_home": "P", "kafka_dr_clusters": clusters}
    file = vault.encrypt("".join(f"vault_{alias}: {text}\n" for alias, text in passwords.items()))
    inline = "vault_inline: !vault |\n" + "".join(
        f"  {line}\n" for line in vault.encrypt("0123456").decode().splitlines()
    )
    found = arrived(folder, inventory, [file.decode(), inline], "--vault-password-file", str(key))
    pair: dict[str, Any] = found["kafka_dr_pair"]
    return pair


def test_passwords_in_quotes_and_encrypted_strings_are_texts(tmp_path: Path) -> None:
    pair = vaulted(tmp_path, P="'0123456'", B="'{{ vault_inline }}'")
    found = [cluster["client"]["sasl.password"] for cluster in pair["clusters"].values()]
    assert found == ["0123456", "0123456"]


def test_a_password_without_quotes_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=r'P\.client has the value int for "sasl\.password".* quote it') as refused:
        vaulted(tmp_path, P="0123456", B="'b'")
    assert "42798" not in str(refused.value)


def test_secrets_reach_the_example_inventories_unchanged(tmp_path: Path) -> None:
    check_secrets(tmp_path, 1000, SEED)
