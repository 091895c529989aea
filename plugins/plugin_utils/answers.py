# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Extra variables as they were meant: the text of a quoted value, and nothing in place of an empty one.

AWX writes each answer of a survey as ``!unsafe 'text'`` into a file for ``-e @file``. ansible-core 2.19 to 2.21 read
the text between the quotes as YAML once more: '' becomes null, '0123' becomes 83, and 'NO' becomes false. An extra
variable wins over the inventory, so an empty answer would also hide the inventory's value.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from ansible import context
from ansible.utils.vars import load_extra_vars

__all__ = ["restore_answers"]

_PREFIX = "kafka_dr_"


def restore_answers() -> None:
    """Restore the text of quoted ``kafka_dr_*`` extra variables, and remove those without a value.

    Ansible reads the extra variables of a process once, and uses that dictionary for every task. A core that keeps
    them elsewhere is left alone: the role ``kafka_dr`` refuses what this function would have restored or removed.
    """
    extra: dict[str, Any] = getattr(load_extra_vars, "extra_vars", None) or {}
    texts = _quoted_texts()
    for name in [str(name) for name in extra if str(name).startswith(_PREFIX)]:
        if texts.get(name) and not isinstance(extra[name], str):
            extra[name] = texts[name]
        elif extra[name] is None:
            del extra[name]


def _quoted_texts() -> dict[str, str]:
    """The text of each variable whose last value on the command line is ``!unsafe`` and in quotes, in a file."""
    texts: dict[str, str] = {}
    for option in context.CLIARGS.get("extra_vars") or ():
        if not option.startswith("@"):
            texts = {name: text for name, text in texts.items() if name not in option}
            continue
        path = Path(option[1:]).expanduser()
        # Ansible has read it already, so it is YAML or an encrypted file. A pipe cannot be read twice.
        content = path.read_text(encoding="utf-8") if path.is_file() else ""
        top = None if content.startswith("$ANSIBLE_VAULT") else yaml.compose(content, Loader=yaml.SafeLoader)
        for key, value in top.value if isinstance(top, yaml.MappingNode) else ():
            texts.pop(key.value, None)
            if isinstance(value, yaml.ScalarNode) and value.tag == "!unsafe" and value.style:
                texts[key.value] = value.value
    return texts
