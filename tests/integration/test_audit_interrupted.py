# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An audit whose playbook or module was killed ends, with all processes of its session."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.waiting import Bounds, wait_until

pytestmark = pytest.mark.integration

SECONDS = 15.0
# The program of an audit: it watches its caller, and has a child as Spark's driver has its JVM.
PROGRAM = """
import subprocess, sys
from kafka_dr_audit.caller import end_with_caller
end_with_caller()
child = subprocess.Popen(["sleep", "300"])
print(f"audit {child.pid}", file=sys.stderr, flush=True)
child.wait()
"""
MODULE = """
import sys
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.audit import _run
_run([sys.executable, sys.argv[1]], {}, 250.0)
"""
PLAYBOOK = """
import subprocess, sys
module = subprocess.Popen([sys.executable, *sys.argv[1:]])
print(f"module {module.pid}", file=sys.stderr, flush=True)
module.wait()
"""


@pytest.mark.parametrize("who", ["playbook", "module"])
def test_the_program_ends_when_nothing_waits_for_it(tmp_path: Path, who: str) -> None:
    files = {"program.py": PROGRAM, "module.py": MODULE, "ansible-playbook": PLAYBOOK}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    command = [sys.executable, *(str(tmp_path / name) for name in ("ansible-playbook", "module.py", "program.py"))]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as playbook:
        assert playbook.stderr is not None
        words = dict(playbook.stderr.readline().split() for _line in range(2))
        pids = {"playbook": playbook.pid, "module": int(words["module"])}
        child = int(words["audit"])
        try:
            os.kill(pids[who], signal.SIGKILL)
            ended = wait_until(lambda: runs(child), lambda found: not found, Bounds(SECONDS, 0.1))
            assert ended.done, f"the audit still runs {SECONDS:.0f} s after its {who} was killed"
        finally:
            for pid in {*pids.values(), *([os.getsid(child)] if runs(child) else [])}:
                if runs(pid):
                    os.kill(pid, signal.SIGKILL)
            if runs(child):
                os.kill(child, signal.SIGKILL)


def runs(pid: int) -> bool:
    """Whether the process exists and has not ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
