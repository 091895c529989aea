#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write a report as JSON and, for some, as a page; each whole or not at all."""

from __future__ import annotations

DOCUMENTATION = r"""
module: dr_report
short_description: Write a report as JSON and as a page, whole or not at all
version_added: 1.0.0
description:
  - Makes the folder and writes the same report under each name.
  - The reports of a cutover, of a drill, of readiness and the plan of a check run are also written as one HTML page
    each, which needs neither scripts nor a network. A file that holds the same already is left alone.
  - A report never counts as a change. In check mode its names begin with C(check-), so that the report of the last real
    run stays.
extends_documentation_fragment:
  - switchback.kafka_dr.attributes
options:
  folder:
    description: Folder of the reports. It is made, readable by owner and group only, if it does not exist.
    type: path
    required: true
  names:
    description: File names without C(.json) and C(.html).
    type: list
    elements: str
    required: true
  content:
    description: The report.
    type: dict
    required: true
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
    content: "{{ facts | switchback.kafka_dr.cutover_report }}"
"""

RETURN = r"""
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
from pathlib import Path

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import DrError
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.reports.page import page
from ansible_collections.switchback.kafka_dr.plugins.module_utils._files import is_as_wanted, write_whole
from ansible_collections.switchback.kafka_dr.plugins.module_utils._module import ArgumentSpec, Result, run

_MODE = 0o640
SPEC = ArgumentSpec(
    {
        "folder": {"type": "path", "required": True},
        "names": {"type": "list", "elements": "str", "required": True},
        "content": {"type": "dict", "required": True},
    }
)


def work(module: AnsibleModule) -> Result:
    """Write, and say where."""
    folder, content = Path(module.params["folder"]).resolve(), module.params["content"]
    prefix = "check-" if module.check_mode else ""
    names = [f"{prefix}{name}" for name in module.params["names"]]
    paths, pages = ([folder / f"{name}.{kind}" for name in names] for kind in ("json", "html"))
    try:
        folder.mkdir(mode=0o750, parents=True, exist_ok=True)
        # First what the page only shows: whatever becomes of it.
        _write(paths, json.dumps(content, indent=4, sort_keys=True) + "\n")
        made = page(content)
        _write(pages, made)
    except OSError as error:
        hint = "See that there is space in kafka_dr_report_dir on the controller, and the right to write; start again."
        raise DrError("no_report", f"The report could not be written: {error}.", hint) from error
    return Result(extra={"paths": [str(path) for path in paths], "pages": [str(path) for path in pages if made]})


def _write(paths: list[Path], text: str | None) -> None:
    for path in paths:
        if text is not None and not is_as_wanted(path, text, _MODE):
            write_whole(path, text, _MODE)


def main() -> None:
    """Run the module."""
    run(SPEC.create_module(), work)


if __name__ == "__main__":
    main()
