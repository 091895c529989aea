#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pack the inventory, observations and reports of a pair into one archive without secrets."""

from __future__ import annotations

DOCUMENTATION = r"""
module: dr_support_bundle
short_description: Pack what a problem report needs into one archive without secrets
version_added: 1.0.0
description:
  - Writes one C(tar.gz) with the inventory variables, the results of other modules, and the reports in O(folder).
  - The module masks every secret. It recognizes a secret by the name of its key and by the form in which a text
    contains it. It also masks the value of every secret of the inventory in all texts. For commands, it keeps only the
    program.
  - C(about.json) in the archive lists its files, and the missing parts with the reason.
  - An archive never counts as a change. In check mode the module writes none.
extends_documentation_fragment:
  - switchback.kafka_dr.attributes
options:
  folder:
    description:
      - Folder of the reports. The module writes the archive into it. If the folder does not exist, the module creates
        it, readable by owner and group only.
      - The module packs the newest 100 reports. Of subfolders it reads C(runs/*/report.json)
        only, because others can hold exported records.
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
      - Registered results of modules. Each key is the name of the return value to pack, for example C(status) for a
        result of M(switchback.kafka_dr.dr_status_info). A failed result is listed as missing, with its message.
    type: dict
    default: {}
seealso:
  - module: switchback.kafka_dr.dr_support_info
  - module: switchback.kafka_dr.dr_status_info
attributes:
  check_mode:
    support: full
  diff_mode:
    support: N/A
    details: An archive never counts as a change.
  idempotent:
    support: none
    details: Each task writes a new archive.
author:
  - switchback.kafka_dr contributors (@switchback)
"""

EXAMPLES = r"""
- name: Report the status of the flow
  switchback.kafka_dr.dr_status_info:
    pair: &pair
      clusters:
        P: {bootstrap_servers: "p1.example.com:9092", connect_url: "http://p-connect.example.com:8083"}
        B: {bootstrap_servers: "b1.example.com:9092", connect_url: "http://b-connect.example.com:8083"}
      topics: [Payments]
      groups: [settlement]
    flows: [{source: P, target: B}]
    partial: true
  register: status_result

- name: Read brokers, journal and connectors of both clusters
  switchback.kafka_dr.dr_support_info:
    pair: *pair
  register: support_result

- name: Pack the results and the newest reports
  switchback.kafka_dr.dr_support_bundle:
    folder: /var/log/kafka-dr
    pair: B-P
    variables: {kafka_dr_home: P, kafka_dr_topics: [{name: Payments, partitions: 12}]}
    observations:
      status: "{{ status_result }}"
      sides: "{{ support_result }}"
      versions: "{{ support_result }}"
"""

RETURN = r"""
path:
  description: Absolute path of the archive. In check mode, the path that it would have.
  returned: success
  type: str
  sample: /var/log/kafka-dr/support-B-P-20261126T091500Z.tar.gz
files:
  description: Names of the files in the archive.
  returned: success
  type: list
  elements: str
  sample: [about.json, inventory.json, P/brokers.json, status.json]
missing:
  description: Parts that the archive does not contain, by name, with the reason.
  returned: success
  type: dict
  sample: {B/journal: The journal topic does not exist there.}
lines:
  description: The result in words, line by line.
  returned: success
  type: list
  elements: str
  sample: [4 files about the pair B-P, "missing: B/journal: The journal topic does not exist there."]
error:
  description: Why the task failed, with C(code), C(message), C(hint) and C(endpoint).
  returned: failure
  type: dict
  sample:
    code: no_bundle
    message: "The support bundle could not be written: No space left on device."
    hint: Check that kafka_dr_report_dir on the controller has space and is writable. Then start again.
    endpoint: ""
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
    """Read the reports, mask secrets and write the archive."""
    params, now = module.params, time.gmtime()
    folder = Path(params["folder"]).resolve()
    name = f"support-{params['pair']}-{time.strftime('%Y%m%dT%H%M%SZ', now)}"
    try:
        found = [*folder.glob("*.json"), *folder.glob("runs/*/report.json")]
        newest = sorted(found, key=lambda path: path.stat().st_mtime, reverse=True)
        texts_of = ((path, path.read_text(encoding="utf-8", errors="replace")) for path in newest[:REPORTS])
        reports = {str(path.relative_to(folder)): text for path, text in texts_of}
        stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", now)
        left_out = max(0, len(newest) - REPORTS)
        texts = bundle(params["pair"], stamp, params["variables"], params["observations"], reports, left_out)
        path = folder / f"{name}.tar.gz"
        if not module.check_mode:
            folder.mkdir(mode=0o750, parents=True, exist_ok=True)
            write_archive(path, {f"{name}/{file}": text for file, text in texts.items()}, 0o640)
    except OSError as error:
        hint = "Check that kafka_dr_report_dir on the controller has space and is writable. Then start again."
        raise DrError("no_bundle", f"The support bundle could not be written: {error}.", hint) from error
    missing = json.loads(texts["about.json"])["missing"]
    return Result(extra={"path": str(path), "files": sorted(texts), "missing": missing, "lines": lines(texts)})


def main() -> None:
    """Run the module."""
    run(SPEC.create_module(), work)


if __name__ == "__main__":
    main()
