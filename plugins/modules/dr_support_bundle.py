#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pack what was looked at, the inventory and the reports of a pair into one archive, without secrets."""

from __future__ import annotations

DOCUMENTATION = r"""
module: dr_support_bundle
short_description: Pack what a report of a problem needs into one archive, without secrets
version_added: 1.0.0
description:
  - Writes one C(tar.gz) with the inventory's variables, what other modules have just seen, and the reports in
    O(folder).
  - Every secret is masked. It is known by the name of its key, by being a secret of the inventory (wherever it
    stands), or by how a text writes one. Of commands only the program is kept.
  - C(about.json) in the archive names its files, and what is missing with the reason.
  - An archive never counts as a change. In check mode none is written.
extends_documentation_fragment:
  - switchback.kafka_dr.attributes
options:
  folder:
    description:
      - Folder of the reports, into which the archive is written. It is made, readable by owner and group only, if it
        does not exist.
      - Of the reports the newest 100 are packed. Folders below it are not looked at, for one may hold exported records.
    type: path
    required: true
  pair:
    description: Name of the pair.
    type: str
    required: true
  variables:
    description: Variables of the inventory, by name.
    type: dict
    required: true
  observations:
    description:
      - Results of modules as they were registered, each under the name of the part that it returned. One that has
        failed is told with its message.
    type: dict
    default: {}
seealso:
  - module: switchback.kafka_dr.dr_support_info
attributes:
  check_mode:
    support: full
  diff_mode:
    support: N/A
    details: An archive never counts as a change.
  idempotent:
    support: none
    details: Each run writes an archive of its own.
author:
  - switchback.kafka_dr contributors (@switchback)
"""

EXAMPLES = r"""
- name: Pack what was seen
  switchback.kafka_dr.dr_support_bundle:
    folder: /var/log/kafka-dr
    pair: B-P
    variables: {kafka_dr_home: P}
    observations:
      status: "{{ status_result }}"
      sides: "{{ support_result }}"
      versions: "{{ support_result }}"
"""

RETURN = r"""
path:
  description: The archive, absolute. In check mode the one that would be written.
  returned: success
  type: str
files:
  description: Names of the files in it.
  returned: success
  type: list
  elements: str
missing:
  description: Parts that are not in it, by name, with the reason.
  returned: success
  type: dict
lines:
  description: The same for a person.
  returned: success
  type: list
  elements: str
"""

import json
import time
from pathlib import Path

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import DrError
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.reports.support import REPORTS, bundle, lines
from ansible_collections.switchback.kafka_dr.plugins.module_utils._files import write_archive
from ansible_collections.switchback.kafka_dr.plugins.module_utils._module import ArgumentSpec, Result, run

SPEC = ArgumentSpec(
    {
        "folder": {"type": "path", "required": True},
        "pair": {"type": "str", "required": True},
        "variables": {"type": "dict", "required": True},
        "observations": {"type": "dict", "default": {}},
    }
)


def work(module: AnsibleModule) -> Result:
    """Read the reports, mask, pack."""
    params, now = module.params, time.gmtime()
    folder = Path(params["folder"]).resolve()
    name = f"support-{params['pair']}-{time.strftime('%Y%m%dT%H%M%SZ', now)}"
    try:
        newest = sorted(folder.glob("*.json"), key=lambda path: path.stat().st_mtime, reverse=True)
        reports = {path.name: path.read_text(encoding="utf-8", errors="replace") for path in newest[:REPORTS]}
        stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", now)
        left_out = max(0, len(newest) - REPORTS)
        texts = bundle(params["pair"], stamp, params["variables"], params["observations"], reports, left_out)
        path = folder / f"{name}.tar.gz"
        if not module.check_mode:
            folder.mkdir(mode=0o750, parents=True, exist_ok=True)
            write_archive(path, {f"{name}/{file}": text for file, text in texts.items()}, 0o640)
    except OSError as error:
        hint = "See that there is space in kafka_dr_report_dir on the controller, and the right to write; start again."
        raise DrError("no_bundle", f"The support bundle could not be written: {error}.", hint) from error
    missing = json.loads(texts["about.json"])["missing"]
    return Result(extra={"path": str(path), "files": sorted(texts), "missing": missing, "lines": lines(texts)})


def main() -> None:
    """Run the module."""
    run(SPEC.create_module(), work)


if __name__ == "__main__":
    main()
