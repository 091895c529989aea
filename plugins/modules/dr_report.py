#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Build a report and write it as JSON and, for some kinds, as an HTML page."""

from __future__ import annotations

DOCUMENTATION = r"""
module: dr_report
short_description: Build the report of a playbook and write it as JSON and as a page (internal step)
version_added: 1.0.0
description:
  - C(roles/cutover/tasks/report.yml) and the roles C(replication), C(rehearsal), C(salvage) and C(verify) call this
    module on the controller.
  - Builds the report of O(kind) from O(facts) and writes it under each of O(names). It writes each file completely or
    not at all.
  - Also writes an HTML page for the reports of a cutover, of a rehearsal and of readiness, and for the plan of a check
    run. A page needs neither scripts nor a network. A file with the same content stays unchanged.
  - The report of a cutover goes into the folder of its run. The list of all runs, C(index.html) and C(index.json), and
    the links C(latest) and C(latest-move) follow.
  - A report never counts as a change. In check mode, the names of other files start with C(check-), so that the
    report of the last real run stays.
extends_documentation_fragment:
  - switchback.kafka_dr.attributes
  - switchback.kafka_dr.internal
options:
  kind:
    description:
      - Kind of the report. With V(finished), O(facts) are the report.
      - With V(run), O(facts) are what M(switchback.kafka_dr.dr_run) returned as C(made), its C(report), and C(last),
        whether no event of the run follows. Then its files become read-only, and the report has their SHA-256.
    type: str
    choices: [run, rehearsal, readiness, status, checkpoint, changes, finished]
    required: true
  facts:
    description: What the roles of this collection observed. The keys depend on O(kind).
    type: dict
    required: true
  folder:
    description: Folder of the reports. If it does not exist, the module creates it, readable by owner and group only.
    type: path
    required: true
  names:
    description: File names without C(.json) and C(.html). If empty, the module only returns the report.
    type: list
    elements: str
    default: []
  metrics_file:
    description:
      - With O(kind=readiness), a file for the textfile collector of node_exporter. Its folder must exist.
      - The module does not write it in check mode.
    type: path
attributes:
  check_mode:
    support: full
    details: The names of the files start with C(check-), but for a run, whose folder is its own.
  diff_mode:
    support: N/A
    details: A report never counts as a change.
  idempotent:
    support: full
seealso:
  - module: switchback.kafka_dr.dr_support_bundle
author:
  - switchback.kafka_dr contributors (@switchback)
"""

EXAMPLES = r"""
- name: Write the report of an audit
  switchback.kafka_dr.dr_report:
    folder: /var/lib/kafka_dr/reports
    names: [audit]
    kind: finished
    facts: {verdict: PROVEN}
"""

RETURN = r"""
report:
  description: The report as it was given or built. Of a run, the file also has the SHA-256 of the others.
  returned: always
  type: dict
  sample: {verdict: PROVEN}
lines:
  description: The report in words, line by line. Empty with O(kind=finished).
  returned: always
  type: list
  elements: str
  sample: []
note:
  description: With O(kind=rehearsal), what later predictions need of it. Otherwise empty.
  returned: always
  type: dict
  sample: {}
paths:
  description: Absolute paths of the JSON files.
  returned: always
  type: list
  elements: str
  sample: [/var/lib/kafka_dr/reports/audit.json]
pages:
  description: Absolute paths of the HTML pages. Empty for a kind that has none.
  returned: always
  type: list
  elements: str
  sample: [/var/lib/kafka_dr/reports/readiness.html]
"""

import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import DrError
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.reports.documents import KINDS, document
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.reports.page import page
from ansible_collections.switchback.kafka_dr.plugins.module_utils._files import is_as_wanted, write_whole
from ansible_collections.switchback.kafka_dr.plugins.module_utils._module import ArgumentSpec, Result, run
from ansible_collections.switchback.kafka_dr.plugins.module_utils._record import unwritable
from ansible_collections.switchback.kafka_dr.plugins.module_utils._run.publish import publish

_MODE = 0o640
_METRICS_MODE = 0o644
SPEC = ArgumentSpec(
    {
        "kind": {"type": "str", "choices": ["run", *KINDS], "required": True},
        "facts": {"type": "dict", "required": True},
        "folder": {"type": "path", "required": True},
        "names": {"type": "list", "elements": "str", "default": []},
        "metrics_file": {"type": "path"},
    }
)


def work(module: AnsibleModule) -> Result:
    """Build the report and write it. Also returns a report that cannot be written."""
    params = module.params
    if params["kind"] == "run":
        return _run(Path(params["folder"]).resolve(), params["facts"])
    prefix = "check-" if module.check_mode else ""
    names = [f"{prefix}{name}" for name in params["names"]]
    folder = Path(params["folder"]).resolve()
    built = document(params["kind"], params["facts"], time.time(), str(folder / f"{names[0]}.html") if names else "")
    result = Result(extra={"report": built.content, "lines": built.lines, "note": built.note, "paths": [], "pages": []})
    try:
        if names:
            result.extra |= _write_report(folder, names, built.content)
        if params["metrics_file"] and built.metrics is not None and not module.check_mode:
            _write_metrics(Path(params["metrics_file"]).resolve(), built.metrics)
    except DrError as error:
        result.failure = error
    return result


def _run(folder: Path, made: Mapping[str, Any]) -> Result:
    """The report of a cutover."""
    result = Result(extra={"report": dict(made["report"]), "lines": [], "note": {}, "paths": [], "pages": []})
    try:
        written = publish(folder, made)
    except OSError as error:
        result.failure = unwritable("report", error)
        return result
    result.warnings = written.pop("warnings")
    result.extra |= written
    return result


def _write_report(folder: Path, names: list[str], content: dict[str, Any]) -> dict[str, list[str]]:
    paths, pages = ([folder / f"{name}.{kind}" for name in names] for kind in ("json", "html"))
    try:
        folder.mkdir(mode=0o750, parents=True, exist_ok=True)
        # Write the JSON files first: they hold everything that the page shows.
        _write(paths, json.dumps(content, indent=4, sort_keys=True) + "\n", _MODE)
        made = page(content)
        _write(pages, made, _MODE)
    except OSError as error:
        raise unwritable("report", error) from error
    return {"paths": [str(path) for path in paths], "pages": [str(path) for path in pages if made]}


def _write_metrics(path: Path, text: str) -> None:
    try:
        _write([path], text, _METRICS_MODE)
    except OSError as error:
        hint = (
            "Check that the folder of kafka_dr_metrics_file exists on the controller and is writable. Then start again."
        )
        raise DrError("no_report", f"The metrics could not be written: {error}.", hint) from error


def _write(paths: list[Path], text: str | None, mode: int) -> None:
    for path in paths:
        if text is not None and not is_as_wanted(path, text, mode):
            write_whole(path, text, mode)


def main() -> None:
    """Run the module."""
    module = SPEC.create_module()
    # The roles read the checks of a rehearsal.
    run(module, work, () if module.params["kind"] == "rehearsal" else ("report.*",))


if __name__ == "__main__":
    main()
