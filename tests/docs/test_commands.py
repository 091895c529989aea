# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Test every command that README and the guides ask a reader to type.

A command is a line of a fenced shell block, or a code span that begins with a program. Each command is, as a whole, in
one of two tables: ``RUN`` runs it for real, ``CHECKED`` gives the reason why it is only checked. A command in neither
table fails a test, and so does a table entry that is on no page. All commands are checked: their playbooks, variables
and targets exist and parse. So each figure names a command that exists (R29).

The commands run with the release tarball, which the commands of README build and install. So they also prove that an
installation moves a pair, and that it uses no file of the checkout.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.inventory.pair import RUN_VARIABLES, variables
from awx_project import configuration
from installed import ROOT, Site, files, held, tarball
from run_records import reports_of

# Bounds for hangs, also on a machine with other work.
pytestmark = pytest.mark.timeout(900)
PLACES = (
    "*.md",
    "docs/**/*.md",
    "roles/*/*.md",
    "spark/*.md",
    "molecule/*.md",
    "extensions/**/*.md",
    "awx/**/*.md",
)
# The changelog describes the past, and the catalogue of error codes has placeholders in its commands.
LEFT_OUT = {"CHANGELOG.md", "error-codes.md"}
PAGES = [page for place in PLACES for page in sorted(ROOT.glob(place)) if page.name not in LEFT_OUT]
FENCE = re.compile(r"^ *```(\w*)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
SHELL = {"sh", "bash", "shell", "console"}
DATA = {"mermaid", "yaml", "json", "text"}
PROGRAM = re.compile(
    r"(ansible(-[a-z]+)?|antsibull-[a-z]+|apt-get|bash|docker|dockerd|git|make|molecule|npm|pip|pre-commit|ps|pytest"
    r"|python3?|source|spark-submit|\./configure|(\S+/)?venv/bin/\S+|\.venv/bin/\S+) [^|]"
)
PLAYBOOK = re.compile(r"switchback\.kafka_dr\.([a-z_]+)")

# The block "look around" of the quick start, by its page and first line. It is run word for word on a lab of its own.
LOOK_AROUND_PAGE, LOOK_AROUND = "docs/quickstart.md", "make lab-up"
# The block of the lab's page. It is run word for word for the same lab.
LAB_PAGE, LAB = "roles/lab/README.md", "ansible-playbook switchback.kafka_dr.lab_up"
# In a copy of the checkout, before there is a lab.
WITHOUT_LAB = [
    "make help",
    "ansible-doc -l switchback.kafka_dr",
    "ansible-doc -t role switchback.kafka_dr.lab",
    "ansible-doc switchback.kafka_dr.NAME",
    "pytest tests/unit/core/test_gates.py",
]
INSTALL = [
    "ansible-galaxy collection build",
    "ansible-galaxy collection install switchback-kafka_dr-1.0.0.tar.gz",
]
# After the block, while its applications run.
UNDER_LOAD = [
    "ansible-playbook switchback.kafka_dr.readiness -i INVENTORY",
    "ansible-playbook switchback.kafka_dr.failover_cutoff -i INVENTORY -e kafka_dr_confirm=B --check",
]
# When they are stopped.
WITHOUT_LOAD = [
    "python roles/lab/files/lab status --dir build/lab",
    "cd REPORTS/latest-move && python3 -c 'import json;"
    ' [print(sum, "*" + name) for name, sum in json.load(open("report.json"))["files"].items()]\' | sha256sum --check',
    "ansible-playbook switchback.kafka_dr.enable -i INVENTORY -e kafka_dr_confirm=P --check --diff",
    "ansible-playbook switchback.kafka_dr.status -i INVENTORY",
    "ansible-playbook switchback.kafka_dr.reverse_checkpoint -i INVENTORY -e kafka_dr_confirm=B",
    "ansible-playbook switchback.kafka_dr.abandon -i INVENTORY -e kafka_dr_confirm=P",
    "ansible-playbook switchback.kafka_dr.rehearse_cleanup -i INVENTORY -e kafka_dr_confirm=B",
    "ansible-playbook switchback.kafka_dr.support_bundle -i INVENTORY",
    "ansible-playbook switchback.kafka_dr.discover -i INVENTORY",
    "ansible-playbook switchback.kafka_dr.disable -i INVENTORY -e kafka_dr_confirm=P",
]
RUN = WITHOUT_LAB + INSTALL + UNDER_LOAD + WITHOUT_LOAD
# What `make lab-up` reads beside the files of the tarball.
MAKE = {
    "Makefile",
    "requirements.txt",
    *(f"tests/support/{name}.sh" for name in ("common", "java", "link", "venv")),
}
# Placeholders for values of the reader, and their values here.
OWN = {"INVENTORY": "build/lab/inventory", "REPORTS": "build/lab/reports", "NAME": "kafka_topic"}
IN_THE_BLOCK = "a playbook of the block, run there with its own options"
ELSEWHERE = "tests/playbooks runs it"
ITSELF = "a target of its own, minutes to hours"
NEW_CLONE = f"{ITSELF}; it runs on a new clone before each release, as CONTRIBUTING says"
SYSTEM = "installs system packages"
AUDIT = "tests/integration/test_audit_cluster.py runs it on a cluster, and the playbook verify of the block here"
KERBEROS = "make kerberos does the same, to build a client with Kerberos"
KUBECTL = "tests/kubernetes/test_walkthrough.py does the same by the API: it needs no kubectl"
# Commands that are checked only, and why. For ansible-playbook without its options, which have a test of their own.
CHECKED = {
    "ansible-playbook switchback.kafka_dr.enable": IN_THE_BLOCK,
    "ansible-playbook switchback.kafka_dr.failover_cutoff": IN_THE_BLOCK,
    "ansible-playbook switchback.kafka_dr.failback": IN_THE_BLOCK,
    "ansible-playbook switchback.kafka_dr.verify": IN_THE_BLOCK,
    "ansible-playbook switchback.kafka_dr.demo": "tests/playbooks/test_demo.py runs it, from the tarball",
    "ansible-playbook switchback.kafka_dr.lab_up": "a playbook of the block of the lab's page",
    "ansible-playbook switchback.kafka_dr.lab_down": "a playbook of the block of the lab's page",
    "ansible-playbook switchback.kafka_dr.readiness": "run without those options",
    "ansible-playbook switchback.kafka_dr.support_bundle": "run with -i",
    "ansible-playbook switchback.kafka_dr.failover_continuous": ELSEWHERE,
    "ansible-playbook switchback.kafka_dr.failover_disaster": f"{ELSEWHERE}, with a cluster that is killed",
    "ansible-playbook switchback.kafka_dr.salvage": f"{ELSEWHERE}, after a disaster",
    "ansible-playbook switchback.kafka_dr.rebuild": f"{ELSEWHERE}, after a disaster",
    "ansible-playbook switchback.kafka_dr.rehearse": ELSEWHERE,
    "ansible-playbook switchback.kafka_dr.rights": f"{ELSEWHERE}, on a secured pair",
    "ansible-playbook awx/load.yml": "tests/playbooks/test_awx_load.py runs it, against an API in memory",
    "ansible-builder build -f awx/execution-environment/execution-environment.yml --tag kafka-dr-ee": (
        "wants a container engine; make image runs it, with build arguments for a Debian image"
    ),
    "ansible-builder build -f awx/execution-environment/execution-environment.yml --tag kafka-dr-ee"
    " --container-runtime docker --build-arg EE_BASE_IMAGE=YOUR_BASE_IMAGE:TAG --build-arg PKGMGR=/usr/bin/apt-get"
    " --build-arg PYCMD=/opt/ansible/bin/python3": "make image runs it, with its own base image",
    "ansible-builder create": "the execution environment has a test of its own",
    "ansible-rulebook --rulebook extensions/eda/rulebooks/readiness_on_lag.yml --vars vars.yml"
    " --controller-url https://awx.example.com --controller-token ...": (
        "not installed here; tests/repository/test_rulebook.py checks the rulebook"
    ),
    "make demo": NEW_CLONE,
    "make demo ENGINE=srm": NEW_CLONE,
    "make demo ENGINE=strimzi": ITSELF,
    "make demo TAMPER=1": NEW_CLONE,
    "make artifact": ITSELF,
    "make awx": "wants an AWX; tests/runner does the same with an API in memory",
    "make awx AWX_HOST=https://awx.example.com AWX_TOKEN=... AWX_VARS=acceptance.yml": "wants an AWX",
    "make bench": ITSELF,
    "make bench ONLY=topics": ITSELF,
    "make bench ONLY=scale": ITSELF,
    "make changelog": "writes the release's changelog; make lint checks what it wrote",
    "make chaos": ITSELF,
    "make chaos ONLY='default cutoff: frozen' SEED=23": ITSELF,
    "make check": ITSELF,
    "make compatibility": ITSELF,
    "make compatibility LIBRARIES=1": ITSELF,
    "make diagrams": "tests/repository/test_docs_diagrams.py compares the files with the generator",
    "make docs": ITSELF,
    "make error-codes": "tests/repository/test_docs.py compares the page with the generator",
    "make image": ITSELF,
    "make kerberos": ITSELF,
    "make kubernetes": ITSELF,
    "make molecule": ITSELF,
    "make molecule ONLY=cutoff": ITSELF,
    "make molecule ONLY=strimzi": ITSELF,
    "make mutations": ITSELF,
    "make mutations COUNT=50": ITSELF,
    "make mutations ONLY=_core/offsets/spans.py": ITSELF,
    "make playbooks": ITSELF,
    "make setup": "every other target does it first, those of the block too",
    "make soak": ITSELF,
    "make test": ITSELF,
    "molecule test --all": "make molecule runs it",
    "pytest -m soak tests/playbooks/test_predictions.py": "make soak runs it, for hours",
    "pytest -m soak tests/playbooks/test_rehearse.py": "make soak runs it, for hours",
    ".venv/bin/pre-commit install": "writes into .git; tests/repository/test_release.py looks at the hooks",
    "docker exec": "molecule/inventory/docker.yml has the whole command",
    "make -C src && make -C src install && ldconfig": KERBEROS,
    "apt-get install gcc g++ make python3-dev libsasl2-dev libssl-dev zlib1g-dev libzstd-dev": SYSTEM,
    "apt-get install libsasl2-modules-gssapi-mit krb5-user": SYSTEM,
    "./configure --prefix=/usr/local --enable-gssapi --enable-ssl --enable-zlib --enable-zstd --disable-lz4-ext"
    " --disable-curl": KERBEROS,
    "kubectl create namespace kafka": KUBECTL,
    "kubectl create namespace shop": KUBECTL,
    "kubectl apply -f awx/kubernetes/account.yml": KUBECTL,
    "kubectl apply -f awx/kubernetes/applications.yml": KUBECTL,
    "kubectl apply -f awx/kubernetes/kafka-connect.yml": KUBECTL,
    "kubectl -n kafka create secret generic kafka-dr-flow --from-file=p-ca=p.crt --from-file=p-login=p.jaas"
    " --from-file=b-ca=b.crt --from-file=b-login=b.jaas": KUBECTL,
    "kubectl -n kafka wait kafkaconnect/dr-b --for=condition=Ready --timeout=10m": KUBECTL,
    "kubectl -n kafka get secret kafka-dr-token -o 'jsonpath={.data.token}'"
    " | base64 -d > /etc/kafka-dr/b.token": KUBECTL,
    "kubectl -n kafka get secret kafka-dr-token -o 'jsonpath={.data.ca\\.crt}'"
    " | base64 -d > /etc/kafka-dr/b.pem": KUBECTL,
    "umask 077": "the files below it are written by a person",
    "npm pack": "fetches sources, in make kerberos",
    "python -m pip install 'confluent-kafka>=2.6,<3'": "what it asks for is what the tests have",
    "python -m pip install pyspark==4.2.0 numpy 'pandas>=2,<3' pyarrow": "what it asks for is what the tests have",
    "python -m pip install --no-cache-dir --no-deps --force-reinstall --no-binary confluent-kafka"
    " confluent-kafka==2.15.1": KERBEROS,
    'python -c \'from confluent_kafka import Producer; Producer({"builtin.features": "sasl_gssapi"})\'': KERBEROS,
    "python spark/kafka_dr_audit --prepare": "make classes runs it",
    "python -m kafka_dr_audit plan.json --output audit": AUDIT,
    "spark-submit --master yarn --packages org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0"
    " kafka_dr_audit/__main__.py plan.json --output audit": AUDIT,
    "python roles/lab/files/ledger COMMAND": "the block starts it",
    "python roles/lab/files/lab COMMAND": "RUN has its command status, the block up and down",
    "python roles/lab/files/lab up --dir build/lab --engine srm --srm-refresh-seconds 1": "test_srm.py runs it",
    "python roles/lab/files/lab up --dir build/lab --engine aiven --srm-refresh-seconds 1": "test_aiven.py runs it",
    "python roles/lab/files/aiven_api --dir /tmp/aiven --port 0": "test_aiven_contract.py serves it",
    "python roles/lab/files/cm serve --site P --dir /tmp/cm-P --port 0": "test_cm_contract.py serves it",
    "python roles/lab/files/strimzi --url URL --ca CA --token-file FILE --namespace kafka --connect dr-b --workers URL"
    " --version 0.49.1": "test_strimzi.py runs it",
}


@dataclass(frozen=True)
class Command:
    page: str
    text: str


def commands_of(path: Path) -> Iterator[Command]:
    page, text = path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")
    for language, body in FENCE.findall(text):
        if language in SHELL:
            for line in body.replace("\\\n", " ").splitlines():
                if line := re.sub(r"\s+#.*", "", line).strip().removeprefix("$ "):
                    yield Command(page, " ".join(line.split()))
    for span in re.findall(r"`([^`]+)`", FENCE.sub("", text)):
        words = " ".join(span.split())
        if PROGRAM.match(words) and not words.startswith("ansible-playbook -"):
            yield Command(page, words)


COMMANDS = [command for path in PAGES for command in commands_of(path)]


def block(page: str, begin: str) -> list[str]:
    text = (ROOT / page).read_text(encoding="utf-8")
    (lines,) = (body for language, body in FENCE.findall(text) if language == "sh" and body.startswith(begin))
    return lines.splitlines()


def look_around() -> list[str]:
    return block(LOOK_AROUND_PAGE, LOOK_AROUND)


def prelude() -> list[str]:
    """The lines of the block that set up the shell."""
    return [line for line in look_around() if line.startswith(("source ", "export "))]


def is_run(text: str) -> bool:
    return text in RUN or text in look_around()


def whole(text: str) -> str:
    """Return the command as CHECKED has it, without a playbook's variables, which have a test of their own."""
    words = iter(shlex.split(re.sub(r"[][]", "", text)) if text.startswith("ansible-playbook ") else [])
    left = [word for word in words if word not in ("--check", "--diff") and not (word in ("-i", "-e") and next(words))]
    return " ".join(left) or text


# ---- the tables are whole ------------------------------------------------------------------------------------------


def test_every_command_is_run_or_has_a_reason_why_not() -> None:
    assert [each for each in COMMANDS if not is_run(each.text) and whole(each.text) not in CHECKED] == []


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("ansible-playbook switchback.kafka_dr.rights -i INVENTORY -e kafka_dr_confirm=P [--check --diff]", True),
        ("ansible-playbook switchback.kafka_dr.rights_of_man -i INVENTORY -e kafka_dr_confirm=P", False),
        ("ansible-playbook switchback.kafka_dr.rights -i INVENTORY --limit api", False),
        ("make demo TAMPER=2", False),
    ],
)
def test_a_command_is_known_as_a_whole(text: str, known: bool) -> None:
    assert (whole(text) in CHECKED) == known


def test_no_table_has_a_command_that_no_page_has() -> None:
    texts = {command.text for command in COMMANDS}
    assert [text for text in RUN if text not in texts] == []
    assert set(CHECKED) - {whole(text) for text in texts if not is_run(text)} == set()


def test_every_fence_says_what_is_in_it() -> None:
    """A block in an unknown language would escape these tests."""
    languages = {
        (path.name, language) for path in PAGES for language, _text in FENCE.findall(path.read_text(encoding="utf-8"))
    }
    assert {(name, language) for name, language in languages if language not in SHELL | DATA} == set()


# ---- checked: what is named exists and parses ----------------------------------------------------------------------


def options(role: str) -> dict[str, Any]:
    specs = yaml.safe_load((ROOT / "roles" / role / "meta" / "argument_specs.yml").read_text(encoding="utf-8"))
    entries = specs["argument_specs"].values()
    return {name: option for entry in entries for name, option in entry.get("options", {}).items()}


def variables_of(text: str) -> dict[str, str]:
    """Return the variables of ``-e``, in both forms, those in brackets included."""
    found: dict[str, str] = {}
    for given in re.findall(r"-e ('\{[^']*\}'|[a-z_]+=[^\s`\]]+)", text):
        if given.startswith("'"):
            found |= {name: json.dumps(value) for name, value in json.loads(given.strip("'")).items()}
        else:
            name, value = given.split("=", 1)
            found[name] = value
    return found


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_variable_that_a_page_gives_exists_and_takes_that_value(path: Path) -> None:
    known = {f"kafka_dr_{name}" for name in (*variables(), *RUN_VARIABLES)} | set(options("lab"))
    # awx/load.yml accepts the top-level keys of its data. The variables of surveys are in the argument specs.
    known |= {name for name in configuration() if name.startswith("setup_")}
    choices = {name: option["choices"] for name, option in options("kafka_dr").items() if "choices" in option}
    for name, value in variables_of(path.read_text(encoding="utf-8")).items():
        assert name in known, f"{path.name}: {name}"
        assert name not in choices or value in choices[name], f"{path.name}: {name}={value}"


def test_every_playbook_that_a_page_names_exists_and_parses() -> None:
    named = {
        name for each in COMMANDS if each.text.startswith("ansible-playbook") for name in PLAYBOOK.findall(each.text)
    }
    assert named == {path.stem for path in (ROOT / "playbooks").glob("*.yml")}
    asked = [f"switchback.kafka_dr.{name}" for name in sorted(named)]
    said = subprocess.run(
        ["ansible-playbook", "--syntax-check", *asked], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert said.returncode == 0, said.stderr


def test_every_make_target_that_a_page_names_exists() -> None:
    """The targets are searched for, because `make -n` would run recipes that call make again."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    named = {match[1] for each in COMMANDS if (match := re.match(r"make ([a-z][a-z-]*)", each.text))}
    assert named - targets == set()
    used = {match[1] for each in COMMANDS for match in re.finditer(r"^make .*\b([A-Z]+)=", each.text)}
    assert [name for name in used if f"$({name})" not in makefile and f"{name} ?=" not in makefile] == []


def test_pip_installs_what_the_tests_run_with() -> None:
    from importlib.metadata import version

    from packaging.requirements import InvalidRequirement, Requirement

    reported = [word for each in COMMANDS if "pip install" in each.text for word in shlex.split(each.text)[4:]]
    for word in (word for word in reported if not word.startswith("-")):
        try:
            wanted = Requirement(word)
        except InvalidRequirement:
            pytest.fail(f"pip would not understand {word}")
        # A client with Kerberos is built in an environment of its own.
        if "confluent-kafka==" not in word:
            assert version(wanted.name) in wanted.specifier, word


def test_the_archive_that_readme_installs_is_the_one_that_is_built() -> None:
    release = yaml.safe_load((ROOT / "galaxy.yml").read_text(encoding="utf-8"))["version"]
    assert f"ansible-galaxy collection install switchback-kafka_dr-{release}.tar.gz" in RUN


# ---- run -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    return Site(tmp_path_factory.mktemp("user") / "site")


@pytest.fixture(scope="module")
def checkout(site: Site) -> Path:
    """A copy of the checkout with folders of its own and the virtual environment of this test run."""
    path = site.folder / "checkout"
    shutil.copytree(tarball().parent / "copy", path, symlinks=True)
    site.virtual_environment(path)
    site.run("make link", cwd=path)
    return path


def typed(text: str) -> str:
    """A command with the reader's values, in the shell that the block has set up."""
    return "\n".join([*prelude(), re.sub(r"\b[A-Z]+\b", lambda word: OWN.get(word[0], word[0]), text)])


@pytest.mark.parametrize("text", WITHOUT_LAB)
def test_a_command_without_a_lab_runs(site: Site, checkout: Path, text: str) -> None:
    site.run(typed(text), cwd=checkout)


@pytest.fixture(scope="module")
def installed(site: Site, checkout: Path) -> Path:
    """The collection that the commands of README have built and installed, with what `make lab-up` reads beside it.

    `make link` makes it importable in place, as it does with a checkout.
    """
    site.run("\n".join(INSTALL), cwd=checkout)
    # The whole checkout has no other shipped files, and neither the environment nor the lab of a user is shipped.
    assert files(site.collection) == held()
    for name in MAKE:
        (site.collection / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(checkout / name, site.collection / name)
    site.virtual_environment(site.collection)
    site.log.unlink()
    return site.collection


@pytest.fixture(scope="module")
def lab(site: Site, installed: Path) -> Iterator[Path]:
    """Run the block as one script, and its last line after everything else."""
    *lines, last = look_around()
    try:
        site.run("\n".join(lines), cwd=installed, seconds=2400)
        yield installed / "build" / "lab"
    finally:
        site.run(last, cwd=installed)


@pytest.mark.timeout(3000)
def test_the_block_of_the_quick_start_moves_the_applications_and_brings_them_home(lab: Path) -> None:
    outcomes = {name: report["outcome"] for name, report in reports_of(lab / "reports").items()}
    assert outcomes == {"cutoff-B": "completed", "cutoff-P": "completed"}
    assert json.loads((lab / "reports" / "audit.json").read_text())["verdict"] == "PROVEN"


@pytest.mark.parametrize("text", UNDER_LOAD)
def test_a_command_runs_while_the_applications_work(site: Site, lab: Path, text: str) -> None:
    site.run(typed(text), cwd=site.collection)


def test_the_applications_have_lost_nothing(site: Site, lab: Path) -> None:
    ledger = f"python {site.collection}/roles/lab/files/ledger"
    stops = ["payments-api", "settlement --read 60", "fraud --read 60"]
    site.run("\n".join([*(f"{ledger} stop {words} --dir {lab}/ledger" for words in stops)]))
    site.run(f"{ledger} check --dir {lab}/ledger --json check.json")
    counted = json.loads((site.work / "check.json").read_text())
    assert counted["verdict"] == "clean"
    assert counted["totals"]["acknowledged"] > 6000


def test_the_block_of_the_lab_finds_everything_as_it_should_be(site: Site, lab: Path) -> None:
    """It runs in the parent folder of the lab, so its paths name the same lab."""
    for line in block(LAB_PAGE, LAB)[:-1]:
        assert "changed=0" in site.run(typed(f"cd build\n{line}"), cwd=site.collection), line


@pytest.mark.parametrize("text", WITHOUT_LOAD)
def test_a_command_runs_while_the_applications_are_stopped(site: Site, lab: Path, text: str) -> None:
    output = site.run(typed(text), cwd=site.collection)
    assert ".status " not in text or "PROVEN: applications live on P" in output


def test_the_last_line_of_the_block_of_the_lab_stops_it(site: Site, lab: Path) -> None:
    site.run(typed(f"cd build\n{block(LAB_PAGE, LAB)[-1]}"), cwd=site.collection)
    status = json.loads(site.run(f"python {site.collection}/roles/lab/files/lab status --dir {lab}"))
    assert {part["state"] for part in status["parts"].values()} == {"stopped"}


def test_no_command_has_used_a_file_of_the_checkout(site: Site, lab: Path) -> None:
    """This checks what the tests above have run, the programs that a play starts included."""
    ours, checkout = site.used
    assert {"playbooks/failback.yml", "plugins/modules/dr_barrier.py", "spark/kafka_dr_audit/__main__.py"} <= ours
    assert ours & MAKE == set()
    assert checkout == set()
