#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Build a report, and write it as JSON and, for some kinds, as a page; each file whole or not at all."""

from __future__ import annotations

DOCUMENTATION = r"""
module: dr_report
short_description: Build the report of a playbook and write it as JSON and as a page (internal step)
version_added: 1.0.0
description:
  - Builds the report of O(kind) from O(facts) and writes it under each of O(names).
  - The reports of a cutover, of a rehearsal, of readiness and the plan of a check run are also written as one HTML page
    each, which needs neither scripts nor a network. A file that holds the same already is left alone.
  - A report never counts as a change. In check mode its names begin with C(check-), so that the report of the last real
    run stays.
extends_documentation_fragment:
  - switchback.kafka_dr.attributes
options:
  kind:
    description: What the report is about. With V(finished) O(facts) are the report.
    type: str
    choices: [cutover, rehearsal, readiness, status, checkpoint, changes, finished]
    required: true
  facts:
    description: What the roles of this collection found, with other keys for each O(kind). They may change.
    type: dict
    required: true
  folder:
    description: Folder of the reports. It is made, readable by owner and group only, if it does not exist.
    type: path
    required: true
  names:
    description: File names without C(.json) and C(.html). Without one the report is only returned.
    type: list
    elements: str
    default: []
  metrics_file:
    description:
      - With O(kind=readiness), file for the textfile collector of node_exporter. Its folder must exist.
      - In check mode it is not written.
    type: path
attributes:
  check_mode:
    support: full
    details: The report is written under a name that begins with C(check-).
  diff_mode:
    support: N/A
    details: A report never counts as a change.
  idempotent:
    support: full
author:
  - switchback.kafka_dr contributors (@switchback)
"""

EXAMPLES = r"""
- name: Write the report of a run, as the last one of its kind and under its own name
  switchback.kafka_dr.dr_report:
    folder: /var/lib/kafka_dr/reports
    names: [cutoff-B, "{{ run_id }}"]
    kind: finished
    facts: {verdict: PROVEN}
"""

RETURN = r"""
report:
  description: The report as it was written.
  returned: success
  type: dict
lines:
  description: The same for a person. Empty with O(kind=finished).
  returned: success
  type: list
  elements: str
note:
  description: What later predictions need of a rehearsal. Empty for other reports.
  returned: success
  type: dict
paths:
  description: The JSON files, absolute.
  returned: success
  type: list
  elements: str
pages:
  description: The pages beside them, absolute. Empty for a report that has none.
  returned: success
  type: list
  elements: str
"""

import json
import time
from pathlib import Path
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import DrError
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.reports.documents import KINDS, document
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.reports.page import page
from ansible_collections.switchback.kafka_dr.plugins.module_utils._files import is_as_wanted, write_whole
from ansible_collections.switchback.kafka_dr.plugins.module_utils._module import ArgumentSpec, Result, run

_MODE = 0o640
_METRICS_MODE = 0o644
SPEC = ArgumentSpec(
    {
        "kind": {"type": "str", "choices": list(KINDS), "required": True},
        "facts": {"type": "dict", "required": True},
        "folder": {"type": "path", "required": True},
        "names": {"type": "list", "elements": "str", "default": []},
        "metrics_file": {"type": "path"},
    }
)


def work(module: AnsibleModule) -> Result:
    """Build, write, and say where. A report that cannot be written is returned all the same."""
    params = module.params
    built = document(params["kind"], params["facts"], time.time())
    result = Result(extra={"report": built.content, "lines": built.lines, "note": built.note, "paths": [], "pages": []})
    prefix = "check-" if module.check_mode else ""
    names = [f"{prefix}{name}" for name in params["names"]]
    try:
        if names:
            result.extra |= _write_report(Path(params["folder"]).resolve(), names, built.content)
        if params["metrics_file"] and built.metrics is not None and not module.check_mode:
            _write_metrics(Path(params["metrics_file"]).resolve(), built.metrics)
    except DrError as error:
        result.failure = error
    return result


def _write_report(folder: Path, names: list[str], content: dict[str, Any]) -> dict[str, list[str]]:
    paths, pages = ([folder / f"{name}.{kind}" for name in names] for kind in ("json", "html"))
    try:
        folder.mkdir(mode=0o750, parents=True, exist_ok=True)
        # The JSON files come first: they have everything that the page shows.
        _write(paths, json.dumps(content, indent=4, sort_keys=True) + "\n", _MODE)
        made = page(content)
        _write(pages, made, _MODE)
    except OSError as error:
        hint = "See that there is space in kafka_dr_report_dir on the controller, and the right to write; start again."
        raise DrError("no_report", f"The report could not be written: {error}.", hint) from error
    return {"paths": [str(path) for path in paths], "pages": [str(path) for path in pages if made]}


def _write_metrics(path: Path, text: str) -> None:
    try:
        _write([path], text, _METRICS_MODE)
    except OSError as error:
        hint = "See that the folder of kafka_dr_metrics_file exists on the controller and is writable; start again."
        raise DrError("no_report", f"The metrics could not be written: {error}.", hint) from error


def _write(paths: list[Path], text: str | None, mode: int) -> None:
    for path in paths:
        if text is not None and not is_as_wanted(path, text, mode):
            write_whole(path, text, mode)


def main() -> None:
    """Run the module."""
    run(SPEC.create_module(), work)


if __name__ == "__main__":
    main()
