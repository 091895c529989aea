# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The AWX objects are complete and agree with playbooks, argument specs and inventories."""

from __future__ import annotations

import re
from collections.abc import Iterator
from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest
from jinja2 import Environment, StrictUndefined, nodes
from jinja2.meta import find_undeclared_variables
from jinja2.nativetypes import NativeEnvironment

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.inventory.pair import derive_pair
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.version import VERSION
from awx_project import PROJECT, Unsafe, configuration, kind_of, lacking, launched, questions, templates
from repository import ROOT, document, files, read, require_none
from yamls import parse_yaml

# These start and stop processes of the machine that they run on. In AWX that is the container of one job.
LEFT_OUT = {"demo", "lab_up", "lab_down"}
READS_ONLY = {"status", "readiness", "verify", "support_bundle", "discover"}
PLAYBOOKS = sorted({path.stem for path in files("playbooks/*.yml")} - LEFT_OUT)
CONFIGURATION = configuration()
TYPES = {kind["name"]: kind for kind in CONFIGURATION["controller_credential_types"]}
INVENTORIES = sorted((PROJECT / "inventories").iterdir())
NAME = itemgetter("name")


def options() -> dict[str, dict[str, Any]]:
    specs = document(ROOT / "roles/kafka_dr/meta/argument_specs.yml")["argument_specs"]
    found: dict[str, dict[str, Any]] = specs["main"]["options"]
    return found


def names(what: str) -> set[str]:
    return {one["name"] for one in CONFIGURATION[what]}


# ---- playbooks and templates


def test_the_project_asks_for_the_collection_of_this_major_version() -> None:
    (asked,) = document(PROJECT / "collections" / "requirements.yml")["collections"]
    major = VERSION.split(".", maxsplit=1)[0]
    assert asked == {"name": "switchback.kafka_dr", "version": f">={major}.0.0,<{int(major) + 1}.0.0"}


def test_every_playbook_has_a_wrapper_and_a_template_and_there_are_no_others() -> None:
    assert sorted(path.stem for path in (PROJECT / "playbooks").glob("*.yml")) == PLAYBOOKS
    assert sorted(templates()) == PLAYBOOKS
    assert len(CONFIGURATION["controller_templates"]) == len(PLAYBOOKS)


@pytest.mark.parametrize("playbook", PLAYBOOKS)
def test_a_wrapper_and_a_template_start_the_playbook_of_their_name(playbook: str) -> None:
    (play,) = document(PROJECT / "playbooks" / f"{playbook}.yml")
    assert play["ansible.builtin.import_playbook"] == f"switchback.kafka_dr.{playbook}"
    assert play["name"] == document(ROOT / "playbooks" / f"{playbook}.yml")[0]["name"]
    template = templates()[playbook]
    assert template["name"] == f"{CONFIGURATION['setup_name']} {playbook}"
    assert (PROJECT / template["playbook"]).is_file()
    # It offers check and diff, and only takes variables of its survey.
    assert template["ask_job_type_on_launch"] is template["ask_diff_mode_on_launch"] is True
    assert template["allow_simultaneous"] is False
    assert not template.get("ask_variables_on_launch")
    assert set(template["extra_vars"]) <= set(options())
    assert template["survey_enabled"] == bool(questions(template))
    # What may write needs a confirmation without a default.
    asked = [one for one in questions(template) if one["variable"] == "kafka_dr_confirm"]
    assert len(asked) == (playbook not in READS_ONLY)
    assert all(one["required"] and one["min"] == 1 and "default" not in one for one in asked)


def test_templates_only_name_objects_that_are_loaded_before_them() -> None:
    for template in CONFIGURATION["controller_templates"]:
        assert template["project"] in names("controller_projects")
        assert template["inventory"] in names("controller_inventories")
        assert template["execution_environment"] in names("controller_execution_environments")
        assert set(template["credentials"]) <= names("controller_credentials")


# ---- surveys


def test_a_question_agrees_with_the_argument_spec() -> None:
    require_none(
        f"{one['name']}: {question['variable']}"
        for one in (*CONFIGURATION["controller_templates"], *CONFIGURATION["controller_workflows"])
        for question in questions(one)
        if not agrees(question, options()[question["variable"]])
    )


def agrees(question: dict[str, Any], option: dict[str, Any]) -> bool:
    choices = option.get("choices", ["true", "false"] if option["type"] == "bool" else None)
    kind = "multiplechoice" if choices else {"float": "integer", "str": "text", "list": "text"}[option["type"]]
    # AWX accepts an empty text for a required question without a minimum.
    least = question["type"] != "text" or question.get("min") == (1 if question["required"] else None)
    # AWX sends a default with every launch, also of schedules and workflows, and it wins over the inventory.
    return bool(question.get("choices") == choices and question["type"] == kind and least and "default" not in question)


@pytest.mark.parametrize("one", CONFIGURATION["controller_templates"] + CONFIGURATION["controller_workflows"], ids=NAME)
def test_awx_accepts_each_survey(one: dict[str, Any]) -> None:
    """Source: JobTemplateSurveySpec._validate_spec_data in AWX 24.6.1, awx/api/views."""
    if not one["survey_enabled"]:
        assert "survey_spec" not in one
        return
    survey = one["survey_spec"]
    assert isinstance(survey["name"], str)
    assert isinstance(survey["description"], str)
    assert survey["spec"]
    variables = [question["variable"] for question in questions(one)]
    assert len(variables) == len(set(variables))
    for question in questions(one):
        assert all(isinstance(question[key], str) for key in ("question_name", "variable", "type"))
        assert isinstance(question["required"], bool)
        assert all(isinstance(question.get(key, 0), int) for key in ("min", "max"))
        if question["type"] == "multiplechoice":
            assert all(isinstance(choice, str) for choice in question["choices"])


def expressions(value: Any, key: str = "") -> Iterator[nodes.Template]:
    """The expressions that Ansible evaluates in a file of tasks or variables."""
    if isinstance(value, dict):
        for name, item in value.items():
            yield from expressions(item, name)
    elif isinstance(value, list):
        for item in value:
            yield from expressions(item, key)
    elif isinstance(value, str) and key in ("when", "that", "until", "failed_when", "changed_when"):
        yield Environment().parse(f"{{{{ [] and {value} }}}}")
    elif isinstance(value, str):
        yield Environment().parse(value)


def judged(expression: nodes.Template) -> Iterator[str]:
    """Variables that are used as true or false, compared or computed with, without a conversion."""
    for node in expression.find_all((nodes.BinExpr, nodes.UnaryExpr, nodes.Compare, nodes.CondExpr)):
        parts = {
            nodes.Compare: lambda node: [node.expr, *(operand.expr for operand in node.ops)],
            nodes.CondExpr: lambda node: [node.test],
        }.get(type(node), lambda node: node.iter_child_nodes())(node)
        yield from (part.name for part in parts if isinstance(part, nodes.Name))


def test_numbers_and_booleans_may_be_text() -> None:
    """``-e`` and surveys give text, and "0" and "false" are true.

    Roles convert them; modules do so by their own specs.
    """
    typed = {name for name, one in options().items() if one["type"] in ("bool", "float", "int", "list")}
    found = {
        (path, name)
        for path in files("roles/*/tasks/*.yml", "roles/*/vars/*.yml")
        for one in expressions(document(path))
        for name in judged(one)
        if name in typed
    }
    assert found == set()
    assert set(judged(Environment().parse("{{ 1 if not kafka_dr_audit else 2 }}"))) == {"kafka_dr_audit"}


# ---- credentials and the inventories that use them


def test_each_variable_that_a_credential_gives_is_used_by_an_inventory_and_none_is_missing() -> None:
    paths = [path / "group_vars/all/credentials.yml" for path in INVENTORIES]
    wanted = {name for path in paths for name in re.findall(r"vault_[a-z_]+_file\b", read(path))}
    wanted |= {"vault_kafka_ca_file"}
    assert wanted == {name for kind in TYPES.values() for name in kind["injectors"]["extra_vars"]}


@pytest.mark.parametrize("path", INVENTORIES, ids=lambda path: path.name)
def test_an_example_inventory_is_valid_with_the_credentials_of_its_engine(path: Path) -> None:
    login = {
        f"{side}_{key}": f"{side} {key}" for side in ("home", "away") for key in ("username", "password", "secret")
    }
    known = {"vault_kafka": login, "vault_connect": login, "vault_cm": login, "vault_kafka_ca_file": "/file/ca"}
    environment = NativeEnvironment(undefined=StrictUndefined)

    def rendered(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: rendered(item) for key, item in value.items()}
        if isinstance(value, list):
            return [rendered(item) for item in value]
        return environment.from_string(value).render(known) if isinstance(value, str) else value

    text = read(path / "group_vars/all/kafka_dr.yml")
    # With and without the credential that a pair need not have.
    fence = text.replace(
        '# kafka_dr_fence_logins: "{{ vault_fence_logins }}"', 'kafka_dr_fence_logins: {"User:settlement": {}}'
    )
    assert fence != text
    for written in (text, fence):
        variables = parse_yaml(written)
        pair = derive_pair({name.removeprefix("kafka_dr_"): rendered(value) for name, value in variables.items()})
        assert pair["engine"] == path.name
    # Without it, a run would accept any server that answers at that address.
    assert all(cluster["cluster_id"] for cluster in pair["clusters"].values())
    assert [pair["home"], pair["away"]] == [CONFIGURATION["setup_home"], CONFIGURATION["setup_away"]]
    groups = document(path / "hosts.yml")["all"]["children"]
    assert {client["hosts"] for client in pair["clients"]} <= set(groups)
    assert {site["host"] for site in pair["srm"].values()} <= set(groups.get("srm", {}).get("hosts", {}))


def test_a_job_needs_the_credentials_of_a_pair_with_logins_and_no_fence() -> None:
    wanted = [f"Kafka DR {name}" for name in ("clients", "Connect")]
    assert [one["credentials"] for one in CONFIGURATION["controller_templates"]] == [wanted] * len(PLAYBOOKS)


@pytest.mark.parametrize("one", CONFIGURATION["controller_credentials"], ids=NAME)
def test_awx_starts_no_job_while_a_credential_lacks_a_required_field(one: dict[str, Any]) -> None:
    required = kind_of(one["name"])["inputs"]["required"]
    inputs = dict.fromkeys(required, "a")
    assert lacking(one["name"], inputs) == ""
    assert lacking(one["name"], {**inputs, required[0]: ""}) == (
        f"Job cannot start because Credential {one['name']} does not provide one or more required fields"
        f" ({required[0]})."
    )


NAMED = r"[a-zA-Z_][a-zA-Z0-9_]*"


@pytest.mark.parametrize("kind", TYPES.values(), ids=TYPES)
def test_awx_accepts_each_credential_type(kind: dict[str, Any]) -> None:
    """Source: CredentialTypeInputField and CredentialTypeInjectorField in AWX 24.6.1, awx/main/fields.py."""
    assert set(kind["inputs"]) <= {"required", "fields"}
    fields = kind["inputs"]["fields"]
    assert len({field["id"] for field in fields}) == len(fields)
    for field in fields:
        assert {"id", "label"} <= set(field) <= {"id", "label", "type", "multiline", "secret", "help_text"}
        assert re.fullmatch(NAMED, field["id"])
        assert field["id"] != "tower"
        assert field["type"] == "string"
    assert set(kind["injectors"]) <= {"file", "extra_vars"}
    files = set(kind["injectors"].get("file", {}))
    # Either one file without a name, or files that all have one.
    assert files == {"template"} or all(re.fullmatch(rf"template\.{NAMED}", name) for name in files)
    assert all(re.fullmatch(NAMED, name) for name in kind["injectors"]["extra_vars"])


@pytest.mark.parametrize("kind", TYPES.values(), ids=TYPES)
def test_a_credential_provides_every_field_and_hides_secrets(kind: dict[str, Any]) -> None:
    fields = {field["id"]: field for field in kind["inputs"]["fields"]}
    # A pair whose brokers have certificates of a public authority needs no file with it.
    assert set(kind["inputs"]["required"]) == set(fields) - {"ca"}
    texts = [*kind["injectors"]["extra_vars"].values(), *kind["injectors"].get("file", {}).values()]
    # Ansible must pass these to AWX unchanged.
    assert all(isinstance(text, Unsafe) for text in texts)
    read = {name for text in texts for name in find_undeclared_variables(Environment().parse(text))}
    assert read == {*fields, "tower"}
    # Ansible reads an extra variable '0123' as 83, so a secret must be in a file.
    assert all(
        re.fullmatch(r"{{ tower\.filename\.[a-z]+ }}", text) for text in kind["injectors"]["extra_vars"].values()
    )
    secret = {name for name, field in fields.items() if field.get("secret")}
    assert secret == {name for name in fields if re.search("password|secret|logins", name)}


def test_credentials_have_these_types_and_no_secret() -> None:
    assert {one["credential_type"] for one in CONFIGURATION["controller_credentials"]} == set(TYPES)
    assert not [one for one in CONFIGURATION["controller_credentials"] if "inputs" in one]


# ---- workflows and schedules


@pytest.mark.parametrize("workflow", CONFIGURATION["controller_workflows"], ids=NAME)
def test_a_workflow_moves_only_after_readiness_and_an_approval(workflow: dict[str, Any]) -> None:
    nodes = {node["identifier"]: node for node in workflow["workflow_nodes"]}
    by_name = {one["name"]: one for one in CONFIGURATION["controller_templates"]}
    ways = {
        (name, kind, next_one["identifier"])
        for name, node in nodes.items()
        for kind, following in node.get("related", {}).items()
        for next_one in following
    }
    assert ways == {
        ("readiness", "success_nodes", "approval"),
        ("approval", "success_nodes", "move"),
        # A workflow with a failed job is successful, if a node follows the job in any case (WorkflowDAG).
        ("move", "success_nodes", "status"),
    }
    assert nodes["approval"]["unified_job_template"]["type"] == "workflow_approval"
    jobs = {name: node["unified_job_template"] for name, node in nodes.items() if name != "approval"}
    assert {job["type"] for job in jobs.values()} == {"job_template"}
    moved = by_name[jobs["move"]["name"]]
    assert moved["playbook"] in ("playbooks/failover_cutoff.yml", "playbooks/failback.yml")
    # AWX passes an answer of the workflow to the jobs that ask for it.
    assert {one["variable"] for one in questions(workflow)} == {
        one["variable"] for one in questions(moved) if one["required"]
    }
    accepts(by_name[jobs["readiness"]["name"]], nodes["readiness"]["extra_data"])
    assert nodes["readiness"]["extra_data"] == {"kafka_dr_ready_require": "controlled"}


def accepts(template: dict[str, Any], data: dict[str, Any]) -> None:
    """A job started without an operator only takes answers of the survey, and needs the required ones."""
    assert launched(template, data) == {**template["extra_vars"], **data}


def test_schedules_name_templates_that_need_no_operator() -> None:
    """AWX requires a start with a time zone and INTERVAL in a rule (ScheduleSerializer.validate_rrule)."""
    by_name = {one["name"]: one for one in CONFIGURATION["controller_templates"]}
    for schedule in CONFIGURATION["controller_schedules"]:
        accepts(by_name[schedule["unified_job_template"]], schedule.get("extra_data", {}))
        # It would start failing jobs until the credentials have their values and the pair is enabled.
        assert schedule["enabled"] is False
        assert re.fullmatch(r"DTSTART:\d{8}T\d{6}Z RRULE:FREQ=MINUTELY;INTERVAL=\d+", schedule["rrule"])


def test_readiness_and_a_checkpoint_for_each_cluster_are_scheduled() -> None:
    playbooks = {one["name"]: Path(one["playbook"]).stem for one in CONFIGURATION["controller_templates"]}
    found = sorted(
        (playbooks[one["unified_job_template"]], one.get("extra_data", {}).get("kafka_dr_confirm", ""))
        for one in CONFIGURATION["controller_schedules"]
    )
    sides = sorted([CONFIGURATION["setup_home"], CONFIGURATION["setup_away"]])
    assert found == [("readiness", ""), *(("reverse_checkpoint", side) for side in sides)]


# ---- what a workflow passes from job to job


def test_the_next_job_accepts_everything_that_a_job_passes_on() -> None:
    """AWX passes artifacts to later jobs as extra variables, no matter what their surveys ask for."""
    handed = {name for path in files("roles/*/tasks/*.yml") for name in stats(document(path))}
    assert handed >= {"kafka_dr_verdict", "kafka_dr_ready_controlled"}
    variables = document(PROJECT / "inventories/connect/group_vars/all/kafka_dr.yml") | dict.fromkeys(handed, "YES")
    derive_pair({name.removeprefix("kafka_dr_"): value for name, value in variables.items()})


# ---- the guide


def test_the_guide_only_names_existing_objects() -> None:
    pages = ("awx.md", "awx-first-failover.md")
    text = "".join(read(ROOT / "docs" / page) for page in pages)
    paths = set(re.findall(r"(?:awx|tests|extensions)/[\w./-]*\w", text))
    assert paths >= {"awx/load.yml", "awx/vars/controller.yml"}
    assert [path for path in sorted(paths) if not (ROOT / path).exists()] == []
    known = {name for kind in TYPES.values() for name in kind["injectors"]["extra_vars"]}
    written = {name for path in INVENTORIES for name in document(path / "group_vars/all/credentials.yml")}
    assert set(re.findall(r"vault_[a-z_]+[a-z]", text)) == known | written
    assert set(re.findall(r"\*(Kafka DR [a-z_ ]+)\*", text)) <= names("controller_templates") | names(
        "controller_workflows"
    )
    assert set(re.findall(r"setup_[a-z_]+", text)) <= set(CONFIGURATION)


def stats(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from value.get("ansible.builtin.set_stats", {}).get("data", {})
        for item in value.values():
            yield from stats(item)
    elif isinstance(value, list):
        for item in value:
            yield from stats(item)
