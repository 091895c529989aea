# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The reference pages of the documentation, from what ``ansible-doc`` says: nothing is written down a second time."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

import yaml
from antsibull_docs_parser import dom
from antsibull_docs_parser.format import LinkProvider
from antsibull_docs_parser.html import to_html_plain
from antsibull_docs_parser.parser import Context, parse

ROOT = Path(__file__).resolve().parents[2]
COLLECTION = "switchback.kafka_dr"
FOLDERS = {"module": "modules", "role": "roles"}
Doc = dict[str, Any]


def names(kind: str) -> list[str]:
    if kind == "role":
        return sorted(path.parents[1].name for path in ROOT.glob("roles/*/meta/argument_specs.yml"))
    if kind == "filter":
        return sorted(path.stem for path in ROOT.glob("plugins/filter/*.yml"))
    return sorted(path.stem for path in ROOT.glob("plugins/modules/*.py") if path.stem != "__init__")


def documentation(kind: str) -> dict[str, Doc]:
    """All plugins of one kind by their short names, in one call of ``ansible-doc``."""
    wanted = [f"{COLLECTION}.{name}" for name in names(kind)]
    environment = {**os.environ, "ANSIBLE_COLLECTIONS_PATH": str(ROOT / "build" / "collections")}
    said = subprocess.run(
        ["ansible-doc", "-t", kind, "--json", *wanted], capture_output=True, text=True, check=True, env=environment
    )
    found: dict[str, Doc] = json.loads(said.stdout)
    return {name.removeprefix(f"{COLLECTION}."): doc for name, doc in found.items()}


class Links(LinkProvider):
    """From a page of the reference to the page of another plugin."""

    def plugin_link(self, plugin: dom.PluginIdentifier) -> str | None:
        name = plugin.fqcn.removeprefix(f"{COLLECTION}.")
        if plugin.type not in FOLDERS or name == plugin.fqcn:
            return None
        return f"../{FOLDERS[plugin.type]}/{name}.html"


def html(text: Any) -> str:
    """Ansible's markup as HTML on one line: a blank line would end a block of HTML in Markdown."""
    paragraphs = [str(part) for part in (text if isinstance(text, list) else [text])]
    made = to_html_plain(parse(paragraphs, Context()), link_provider=Links(), par_start="", par_end="", par_sep="<br>")
    return re.sub(r"\s+", " ", made)


def paragraphs(text: list[str] | str) -> str:
    return "\n\n".join(f"<p>{html(part)}</p>" for part in ([text] if isinstance(text, str) else text))


def code(value: Any) -> str:
    return f"<code>{escape(value if isinstance(value, str) else json.dumps(value))}</code>"


def kind_of(option: Doc) -> str:
    """``list of strings, needed`` or ``int, default 5``."""
    kind = str(option.get("type", "str"))
    if "elements" in option:
        kind += f" of {option['elements']}"
    if option.get("required"):
        kind += ", <strong>needed</strong>"
    elif option.get("default") is not None:
        kind += f"<br>default {code(option['default'])}"
    if option.get("choices"):
        kind += "<br>" + " ".join(code(choice) for choice in option["choices"])
    return kind


def rows(options: dict[str, Doc], inner: str, prefix: str = "") -> Iterator[str]:
    for name, option in sorted(options.items(), key=lambda item: (not item[1].get("required"), item[0])):
        whole = f"{prefix}{name}"
        first = f"{code(whole)}<br><small>{kind_of(option)}</small>"
        yield f"<tr><td>{first}</td><td>{html(option.get('description', []))}</td></tr>"
        if option.get(inner):
            ending = "[]." if option.get("type") == "list" else "."
            yield from rows(option[inner], inner, whole + ending)


def table(title: str, options: dict[str, Doc], inner: str) -> list[str]:
    if not options:
        return []
    body = "\n".join(rows(options, inner))
    head = "<thead><tr><th>name, type</th><th>meaning</th></tr></thead>"
    return [f"## {title}", f'<div class="kd-options"><table>{head}<tbody>\n{body}\n</tbody></table></div>']


def attributes(found: dict[str, Doc]) -> list[str]:
    cells = [
        f"<tr><td>{code(name)}</td><td>{escape(str(entry['support']))}</td>"
        f"<td>{html(entry.get('details') or entry['description'])}</td></tr>"
        for name, entry in sorted(found.items())
        if "support" in entry
    ]
    return ["## Attributes", "<table><tbody>\n" + "\n".join(cells) + "\n</tbody></table>"] if cells else []


def points(title: str, texts: list[str]) -> list[str]:
    return [f"## {title}", "\n".join(f"- {text}" for text in texts)] if texts else []


def neighbour(entry: Doc) -> str:
    """An entry of ``seealso``: a module or a link, with its description."""
    name = html(f"M({entry['module']})") if "module" in entry else f"[{escape(entry['name'])}]({entry['link']})"
    description = entry.get("description")
    return f"{name}: {html(description)}" if description else name


def plugin_page(name: str, found: Doc) -> str:
    doc = found["doc"]
    parts = [f"# {name}", f"**{html(doc['short_description'])}**", paragraphs(doc["description"])]
    parts += points("Requirements", [html(text) for text in doc.get("requirements") or []])
    parts += points("Notes", [html(note) for note in doc.get("notes") or []])
    parts += table("Options", doc.get("options", {}), "suboptions")
    parts += attributes(doc.get("attributes", {}))
    if found.get("examples"):
        parts += ["## Examples", f"```yaml\n{found['examples'].strip()}\n```"]
    parts += table("Returns", found.get("return") or {}, "contains")
    parts += points("See also", [neighbour(entry) for entry in doc.get("seealso") or []])
    return "\n\n".join(parts) + "\n"


def role_page(name: str, found: Doc) -> str:
    parts = [f"# Role {name}", (ROOT / "roles" / name / "README.md").read_text(encoding="utf-8").split("\n", 1)[1]]
    for entry, spec in sorted(found["entry_points"].items(), key=lambda item: (item[0] != "main", item[0])):
        parts += [f"## Entry point {entry}", f"**{html(spec['short_description'])}**"]
        parts += [paragraphs(spec["description"])]
        parts += table(f"Options of {entry}", spec.get("options", {}), "options")
    return "\n\n".join(parts) + "\n"


def filters_page(found: dict[str, Doc]) -> str:
    lines = ["# Filters", "They belong to the roles and may change in any release.", "| filter | does |\n|---|---|"]
    table_rows = [f"| `{name}` | {html(entry['doc']['short_description'])} |" for name, entry in sorted(found.items())]
    return "\n\n".join(lines) + "\n" + "\n".join(table_rows) + "\n"


def playbooks_page() -> str:
    """From the playbooks themselves: their names, what they do, and the command in their headers."""
    lines = ["# Playbooks", "What each does, phase by phase: [procedures](../procedures/README.md).", ""]
    lines += ["| playbook | does | command |", "|---|---|---|"]
    for path in sorted(ROOT.glob("playbooks/*.yml")):
        text = path.read_text(encoding="utf-8")
        plays = yaml.safe_load(text)
        # A playbook of several plays says under its command what they do together.
        (does,) = (
            [play["name"] for play in plays] if len(plays) == 1 else re.findall(r"^# ansible-.*\n# ([^.]*)", text, re.M)
        )
        command = re.search(r"^# (ansible-playbook [^()\n]*)", text, re.MULTILINE)
        assert command, f"{path} does not say how it is called"
        lines.append(f"| `{path.stem}` | {does} | `{re.sub(' +', ' ', command[1]).strip()}` |")
    return "\n".join(lines) + "\n"


def pages() -> dict[str, str]:
    """All pages by their place below ``docs``."""
    modules, roles = documentation("module"), documentation("role")
    made = {
        "reference/playbooks.md": playbooks_page(),
        "reference/filters.md": filters_page(documentation("filter")),
        "reference/modules/index.md": index("Modules", modules, lambda doc: doc["doc"]["short_description"]),
        "reference/roles/index.md": index(
            "Roles", roles, lambda doc: doc["entry_points"].get("main", {}).get("short_description", "")
        ),
    }
    made |= {f"reference/modules/{name}.md": plugin_page(name, doc) for name, doc in modules.items()}
    return made | {f"reference/roles/{name}.md": role_page(name, doc) for name, doc in roles.items()}


def index(title: str, found: dict[str, Doc], words: Any) -> str:
    lines = [f"| [`{name}`]({name}.md) | {html(words(doc))} |" for name, doc in sorted(found.items())]
    return f"# {title}\n\n| name | does |\n|---|---|\n" + "\n".join(lines) + "\n"
