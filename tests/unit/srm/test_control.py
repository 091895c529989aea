# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The call of srm-control: its arguments, how it may end, and how that is reported."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._bounded import last_lines
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import DrError
from ansible_collections.switchback.kafka_dr.plugins.module_utils._srm.control import (
    SrmControl,
    Tool,
    export_offsets,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._srm.listing import FlowList
from ansible_collections.switchback.kafka_dr.tests.unit.srm.tool import program

TOPICS = FlowList("topics", "P", "B")
REVERSE = FlowList("reverse_checkpointed_topics", "B", "P")
ECHO = """
import json, os, sys
from pathlib import Path
seen = {"argv": sys.argv[1:], "secret": os.environ.get("WORD"), "input": sys.stdin.read()}
Path(sys.argv[0] + ".seen").write_text(json.dumps(seen))
print("Current whitelist:\\nCurrent blacklist:\\nDone.")
"""


def failure(path: Path, where: FlowList = TOPICS, **more: object) -> DrError:
    with pytest.raises(DrError) as failed:
        SrmControl(replace(Tool((str(path),)), **more)).list(where)  # type: ignore[arg-type]
    return failed.value


def ends(tmp_path: Path, code: int, *lines: str, to: str = "stderr") -> Path:
    return program(tmp_path / "tool", f"import sys; print(*{lines!r}, sep='\\n', file=sys.{to}); sys.exit({code})")


def test_the_arguments_of_the_tool(tmp_path: Path) -> None:
    path = program(tmp_path / "tool", ECHO)
    tool = Tool((str(path), "--verbose"), "/etc/x y.properties", "b1:1,b2:2", "WORD", "hunter2 $HOME")
    control = SrmControl(tool)
    control.list(REVERSE)
    seen = (tmp_path / "tool.seen").read_text()
    expected = ["--verbose", "reverse-checkpointed-topics", "--source", "B", "--target", "P", "--list"]
    expected += ["--config", "/etc/x y.properties", "--bootstrap-servers", "b1:1,b2:2"]
    assert f'"argv": {expected}'.replace("'", '"') in seen
    assert '"secret": "hunter2 $HOME", "input": ""' in seen
    assert control.requests == [{"argv": [str(path), *expected], "rc": 0}]
    assert "hunter2" not in f"{tool} {control.requests}"


def test_an_argument_is_neither_shell_text_nor_a_variable(tmp_path: Path) -> None:
    path = program(tmp_path / "tool", ECHO)
    SrmControl(Tool((str(path),))).change(TOPICS, "--add", ["$HOME", "~", "a;b", "x|y"])
    assert '"--add", "$HOME,~,a;b,x|y"]' in (tmp_path / "tool.seen").read_text()


def test_without_a_secret_the_environment_is_unchanged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORD", "of the host")
    SrmControl(Tool((str(program(tmp_path / "tool", ECHO)),), secret_env="WORD")).list(TOPICS)
    assert '"secret": "of the host"' in (tmp_path / "tool.seen").read_text()


def test_the_tool_is_found_in_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path / "srm-control", ECHO)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert SrmControl(Tool()).list(TOPICS).allowed == ()


@pytest.mark.parametrize("command", [("srm-control",), ("/nowhere/srm-control",), (), ("",)])
def test_a_missing_tool_is_an_error(command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(DrError) as failed:
        SrmControl(Tool(command))
    assert failed.value.code == "srm_control_missing"
    assert "/opt/cloudera/parcels/CDH/bin" in failed.value.message


def test_a_tool_that_cannot_be_started_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "tool"
    path.write_text("#!/nowhere/interpreter\n")
    path.chmod(0o755)
    error = failure(path)
    assert error.code == "srm_control_missing"
    assert "could not be started: No such file" in error.message


@pytest.mark.parametrize(
    ("lines", "code", "hint"),
    [
        (["Unknown alias: p"], "srm_alias_unknown", "same letter case"),
        (["srm-control: unknown cluster alias 'p', known: P, B"], "srm_alias_unknown", "deploy the client"),
        (
            ["srm-control: unknown command 'topics', wanted one of groups"],
            "srm_control_old",
            'not have the subcommand "topics"',
        ),
        (["keystore password was incorrect"], "srm_secret", "No secret was given for SECURESTOREPASS"),
        (["the secure storage is protected: set the environment variable X"], "srm_secret", "set secret"),
        (["usage: srm-control [-h]", "   [--list]", "Timed out"], "srm_control_refused", "by hand"),
        (
            ["usage: srm-control [-h]", "error: unrecognized arguments: --bootstrap-servers"],
            "srm_control_unsupported",
            "-h",
        ),
        (
            ["usage: srm-control", "error: invalid choice: 'topics'"],
            "srm_control_old",
            'not have the subcommand "topics"',
        ),
        (["ERROR Secure store password not set"], "srm_secret", "No secret was given for SECURESTOREPASS"),
        (["Environment variable SECURESTOREPASS is missing"], "srm_secret", "set secret"),
        ([], "srm_control_refused", "client configuration was deployed"),
    ],
)
@pytest.mark.parametrize("to", ["stdout", "stderr"])
def test_a_refusal_of_the_tool_is_an_error(tmp_path: Path, to: str, lines: list[str], code: str, hint: str) -> None:
    error = failure(ends(tmp_path, 3, *lines, to=to))
    assert (error.code, error.endpoint) == (code, "P->B")
    assert hint in error.hint
    assert '"srm-control topics --source P --target B --list" exited with 3, wanted 0' in error.message
    assert (lines[-1] if lines else "no output") in error.message


def test_a_log_that_only_mentions_the_secure_store_is_not_taken_for_a_wrong_password(tmp_path: Path) -> None:
    assert failure(ends(tmp_path, 1, "INFO opening the secure store", "Timed out")).code == "srm_control_refused"


def test_without_reverse_checkpointing_the_error_names_the_release_that_has_it(tmp_path: Path) -> None:
    error = failure(ends(tmp_path, 2, "invalid choice: 'reverse-checkpointed-topics'"), REVERSE)
    assert (error.code, "7.3.2" in error.hint) == ("srm_control_old", True)


def test_exit_code_0_without_a_list_is_an_error_with_the_output(tmp_path: Path) -> None:
    error = failure(ends(tmp_path, 0, "usage: srm-control [-h]", to="stdout"))
    assert error.code == "srm_list_unreadable"
    assert "usage: srm-control [-h]" in error.message


def test_a_secret_that_the_tool_prints_is_masked(tmp_path: Path) -> None:
    path = program(
        tmp_path / "tool",
        "import os, sys; w = os.environ['WORD']; print(f'bad {w}'); print(f'ssl.key.password={w[:3]}', file=sys.stderr)"
        "; sys.exit(1)",
    )
    error = failure(path, secret="hunter2", secret_env="WORD")
    assert "bad ********" in error.message
    assert "ssl.key.password=********" in error.message
    assert "hun" not in error.message


def test_a_wrong_secret_is_distinguished_from_a_missing_one(tmp_path: Path) -> None:
    error = failure(ends(tmp_path, 1, "secure store: wrong password"), secret="hunter2")
    assert "did not accept the secret" in error.hint


# ---- a tool that hangs

HANGS = """
import os, signal, subprocess, sys, time
from pathlib import Path
print("connecting to b1:9092", flush=True)
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
if {deaf}:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
Path(sys.argv[0] + ".pids").write_text(f"{{os.getpid()}} {{child.pid}}")
time.sleep(600)
"""


def is_gone(pid: int) -> bool:
    """Return whether the process has ended, even if its parent has not collected it yet."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except FileNotFoundError:
        return True


@pytest.mark.parametrize("deaf", [False, True])
def test_a_hanging_tool_is_killed_with_its_children(tmp_path: Path, deaf: bool) -> None:
    control = SrmControl(Tool((str(program(tmp_path / "tool", HANGS.format(deaf=deaf))),), timeout=1.5))
    started = time.monotonic()
    with pytest.raises(DrError) as failed:
        control.list(TOPICS)
    assert time.monotonic() - started < 60
    assert failed.value.code == "srm_control_timeout"
    assert "did not exit within 1.5 s and was killed. Last lines: connecting to b1:9092" in failed.value.message
    assert control.requests[0]["rc"] is None
    pids = [int(pid) for pid in (tmp_path / "tool.pids").read_text().split()]
    deadline = time.monotonic() + 5
    while not all(is_gone(pid) for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert [pid for pid in pids if not is_gone(pid)] == []
    assert os.getpid() not in pids


def test_much_output_does_not_block(tmp_path: Path) -> None:
    path = program(
        tmp_path / "tool",
        "import sys\nfor stream in (sys.stderr, sys.stdout): print('a log line\\n' * 100000, file=stream)\n"
        "print('Current whitelist:\\nx\\nCurrent blacklist:\\nDone.')",
    )
    assert SrmControl(Tool((str(path),))).list(TOPICS).allowed == ("x",)


# ---- offsets


def test_offsets_are_exported_and_read(tmp_path: Path) -> None:
    text = (
        "import sys; assert sys.argv[1:] == %r; print('INFO a, b'); print('topic,partition,offset\\nP.Payments,0,17')"
    )
    asked = ["offsets", "--source", "P", "--target", "B", "--group", "g h", "--export"]
    control = SrmControl(Tool((str(program(tmp_path / "tool", text % asked)),)))
    assert export_offsets(control, "P", "B", "g h") == [{"topic": "P.Payments", "partition": 0, "offset": 17}]


# ---- messages


def test_the_last_lines_omit_lines_without_information() -> None:
    trace = "Exception: no\n\tat a.b.C.d(C.java:1)\n\tat a.b.<init>(C.java:1)\n\t... 3 more\n\n"
    assert last_lines("", trace) == "Exception: no | at a.b.<init>(C.java:1)"
    assert last_lines("", "it: no\nusage: it [-h]\n          [--list]\n") == "it: no"
    assert last_lines("usage: it [-h]") == "usage: it [-h]"
    assert last_lines("\n".join(str(number) for number in range(9))) == "3 | 4 | 5 | 6 | 7 | 8"
