# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Collects every error code that the collection raises, and writes docs/error-codes.md: ``make error-codes``.

The code, the message and the hint are read from the syntax tree of ``plugins/``. A value that is only known at run time
becomes a placeholder, such as ``<topic>``.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from repository import ROOT, files, nodes

__all__ = ["COMPOSED", "PAGE", "PASSED_ON", "Entry", "entries", "page"]

PAGE = ROOT / "docs" / "error-codes.md"
CODE = re.compile(r"[a-z]+(_[a-z]+)+")
#: Callables other than ``*Error`` that build an error; the code is the first argument, for ``NoAnswer`` the second.
BUILDERS = {"Unreachable", "LockedOut", "NoAnswer", "Undecided", "Problem", "kind"}
FOREIGN = {"ValueError", "KeyError", "TypeError", "RuntimeError", "AnsibleFilterError", "KafkaError", "OSError"}
#: The HTTP clients build codes from their prefix.
PREFIXES = ("connect", "cm", "aiven", "kubernetes")
#: What `dr_status` can wait for (``wait_for``): ``not_flowing`` and ``not_replicated`` are codes.
WAITS = ("flowing", "replicated")
LONG = 260
# Who refuses a request, by the first word of the code. Others: Kafka Connect.
_PEERS = {"cm": "Cloudera Manager", "kubernetes": "Kubernetes"}
# Characters of all texts of one code that are shown without a selection.
WHOLE = 2 * LONG
#: Names of text that a message may end with, such as "... and 3 more". The page omits them.
OPTIONAL = re.compile(r" ?<(more|also|again|tail|because|who)>")
#: What failed, for codes whose message is composed at run time. A text in the code itself comes first.
COMPOSED = {
    "aiven_client_invalid": "The settings of the client for Aiven's API have errors. The message names each.",
    "bad_offsets": "The list of offsets has errors. The message names each.",
    "bad_topics": "The list of topics has errors. The message names each.",
    "cm_client_invalid": "The settings of the Cloudera Manager client have errors. The message names each.",
    "connect_client_invalid": "The settings of the Kafka Connect client have errors. The message names each.",
    "connector_step_failed": "A connector did not do what was asked. The message has its state.",
    "flow_invalid": "Options of the flow have errors. The message names each.",
    "group_out_of_scope": "A group uses a topic of the pair that its declaration leaves out.",
    "not_replayed": "The replay stopped before its end. The message has the broker's error.",
    "inventory_smaller": "The inventory omits topics or groups of the pair, or names other clusters than the journal.",
    "kubernetes_client_invalid": "The settings of the Kubernetes client have errors. The message names each.",
    "offset_wrong": "After the applications started, a committed offset is missing, outside the log, or too low.",
    "rehearsal_left": "A rehearsal left something on the clusters. The message names it.",
    "setting_refused": "A setting would make a cutover unsafe. The message names each.",
    "settings_invalid": "The Kafka Connect workers refuse a setting. The message names each.",
    "srm_alias_unknown": "srm-control does not know an alias.",
    "srm_control_old": "This version of srm-control lacks a command.",
    "srm_control_refused": "srm-control exited with an error. The message has its last lines.",
    "srm_control_unsupported": "This version of srm-control does not accept these arguments.",
    "srm_entries_invalid": "Entries of an srm-control list have errors. The message names each.",
    "srm_secret": "srm-control did not get a valid secret.",
    "topic_not_deleted": "The broker still lists a topic after its deletion.",
    "workers_away": "No Kafka Connect worker of a cluster responds. The message has the reason.",
}
#: The next step, for codes that pass the answer of another program on.
PASSED_ON = {
    "inventory_smaller": "Complete the inventory, or name what may leave the pair in kafka_dr_drop.",
    "bad_record": "Find out which program writes to that topic, and remove its right to do so.",
    "field_owned": "Suspend the GitOps program that the message names, then start again.",
    "kubeconfig_unusable": "Correct the file, or the key kubeconfig of the inventory.",
    "kubernetes_conflict": "Start the same playbook again.",
    "kubernetes_error": "Correct what the message names, then start the same playbook again.",
    "kubernetes_forbidden": "Apply the Role of docs/kubernetes.md.",
    "kubernetes_invalid": "Correct what the message names, then start the same playbook again.",
    "kubernetes_not_found": "Check the namespace and the names in the inventory, and the custom resource definitions.",
    "cm_cluster_not_found": "Correct cluster in kafka_dr_srm.",
    "cm_error": "Read the log of Cloudera Manager, then start again.",
    "cm_forbidden": "Allow the account to configure and restart the service.",
    "cm_group_not_found": "Correct the role group.",
    "cm_invalid": "Correct the value that the message names.",
    "cm_not_found": "Correct cluster, service (both case-sensitive) or api_version in kafka_dr_srm.",
    "connect_conflict": "Wait until the rebalance has ended, then start again.",
    "connect_error": "Read the log of the worker, then start again.",
    "connect_invalid": "Correct the setting in kafka_dr_flow.",
    "connect_not_found": "The connector was deleted meanwhile. Start again.",
    "not_authorized": "Grant the right. The error names it, the principal and the command of kafka-acls.sh.",
    "offset_lower": "Find out which process committed it, then add -e kafka_dr_lower=lower or keep.",
    "offset_not_proven": "Start the same playbook again.",
    "offset_not_written": "Check that no consumer of the group runs there, then start the same playbook again.",
    "offset_out_of_range": "Run the playbook enable, then start the same playbook again.",
    "read_incomplete": "Check that the partition has a leader, then start the same playbook again.",
    "srm_entries_invalid": "Correct the entries.",
    "topic_refused": "Correct the setting, or the policy of the cluster.",
    "unknown_alias": "Correct the flow or kafka_dr_clusters.",
    "unknown_partition": "Run the playbook enable, then start the same playbook again.",
    "workers_away": "Start the workers, or correct connect_url.",
}
HEAD = """# Error codes

Every error of the collection has a code: `error.code` of a failed task, `failure.code` of a report. The message also
names the cluster and the values found. Words in *italics* stand for such a value. `make error-codes` generates this
page from the code. If you start from a symptom, read [troubleshooting](troubleshooting.md).

| code | what failed | next step |
|---|---|---|
"""


@dataclass
class Entry:
    """One code, with each message and hint that is raised with it."""

    code: str
    messages: list[str] = field(default_factory=list)
    hints: list[str] = field(default_factory=list)
    files: set[str] = field(default_factory=set)


class Source:
    """One file of plugins/: resolves expressions to the texts that they may have."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.nodes = nodes(path)
        self.parents = {child: node for node in self.nodes for child in ast.iter_child_nodes(node)}

    def calls(self) -> Iterator[ast.Call]:
        for node in self.nodes:
            if isinstance(node, ast.Call):
                called = getattr(node.func, "id", getattr(node.func, "attr", ""))
                if (called.endswith("Error") and called not in FOREIGN) or called in BUILDERS:
                    yield node

    def scopes(self, node: ast.AST) -> Iterator[ast.AST]:
        """Yield the functions around a node, innermost first, and the module."""
        here: ast.AST | None = node
        while here := self.parents.get(here) if here else None:
            if isinstance(here, ast.FunctionDef | ast.Module):
                yield here

    def assigned(self, name: str, node: ast.expr) -> list[ast.expr]:
        """Return the values that a name may have at a node: its assignments above it, or those of the module."""
        for scope in self.scopes(node):
            found = []
            for each in ast.walk(scope):
                target = each.targets[0] if isinstance(each, ast.Assign) else None
                if isinstance(each, ast.AnnAssign) and each.value is not None:
                    target = each.target
                value = getattr(each, "value", None)
                if target is None or value is None or each.lineno > node.lineno:  # type: ignore[attr-defined]
                    continue
                pairs = (
                    zip(target.elts, value.elts, strict=False)
                    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)
                    else [(target, value)]
                )
                found += [value for target, value in pairs if isinstance(target, ast.Name) and target.id == name]
            if found:
                return found
        return []

    def texts(self, node: ast.expr, depth: int = 0) -> list[str]:
        """Return the texts that an expression may have. Unknown parts are placeholders."""
        if isinstance(node, ast.Constant):
            return [str(node.value)]
        if isinstance(node, ast.IfExp):
            return [*self.texts(node.body, depth), *self.texts(node.orelse, depth)]
        if isinstance(node, ast.JoinedStr):
            return self.joined([self.part(value, depth) for value in node.values])
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            return self.joined([self.texts(node.left, depth), self.texts(node.right, depth)])
        if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or):
            return [text for value in node.values for text in self.texts(value, depth)]
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "strip":
            return [text.strip() for text in self.texts(node.func.value, depth)]  # type: ignore[attr-defined]
        if isinstance(node, ast.Name) and depth < 4:
            found = [text for value in self.assigned(node.id, node) for text in self.texts(value, depth + 1)]
            if found:
                return found
        return [placeholder(node)]

    def part(self, node: ast.expr, depth: int) -> list[str]:
        if not isinstance(node, ast.FormattedValue):
            return self.texts(node, depth)
        value = node.value
        if isinstance(value, ast.IfExp):
            return self.texts(value, depth)
        if isinstance(value, ast.Name) and depth < 3:
            found = [text for each in self.assigned(value.id, value) for text in self.texts(each, depth + 1)]
            if len(found) <= 2 and all(" " in text and not text.startswith("<") for text in found) and found:
                return found
        return [placeholder(value)]

    @staticmethod
    def joined(parts: list[list[str]]) -> list[str]:
        """Return all parts as one text. Several alternatives of one part stay together, as ``a / b``.

        A key without quotes is a ``Partition``; the key of a setting is quoted.
        """
        text = "".join(part[0] if len(part) == 1 else alternatives(part) for part in parts)
        return [re.sub(r'(?<!")<key>', "<topic>-<partition>", text)]


def alternatives(texts: list[str]) -> str:
    left = [text for text in dict.fromkeys(texts) if text]
    if len(left) == 1:
        return left[0] if len(left[0]) > 3 else f"({left[0]})"
    spaced = " " if left and left[0].startswith(" ") else ""
    return spaced + " / ".join(text.strip() for text in left[:2])


def placeholder(node: ast.expr) -> str:
    """Return a readable name for a value of the run, such as ``<topic>``."""
    while True:
        if re.search(r"\b(key|replica|partition)\[[01]\]$", ast.unparse(node)):
            return "<topic>" if ast.unparse(node).endswith("[0]") else "<partition>"
        if isinstance(node, ast.Subscript) and isinstance(getattr(node.slice, "value", None), str):
            return f"<{name_of(node.slice.value)}>"  # type: ignore[attr-defined]
        if isinstance(node, ast.Call):
            called = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if called == "len":
                return f"<number of {words(node.args[0])}>"
            if called in ("get", "rstrip", "strip", "pop") and isinstance(node.func, ast.Attribute):
                named = node.args[0] if node.args and called == "get" else None
                if isinstance(named, ast.Constant) and isinstance(named.value, str):
                    return f"<{name_of(named.value)}>"
                node = node.func.value
                continue
            if called == "first_few":
                node = node.args[0]
                continue
            if called in ("join", "repr", "str", "sorted", "printable", "list", "shown", "quoted", "map") and node.args:
                node = node.args[-1]
                continue
            return f"<{name_of(called)}>"
        if isinstance(node, ast.Subscript | ast.Starred):
            node = node.value
        elif isinstance(node, ast.GeneratorExp | ast.ListComp):
            node = node.generators[0].iter
        else:
            return f"<{words(node)}>"


def words(node: ast.expr) -> str:
    """Return the name of the first variable in an expression. The state of a wait is what it still waits for."""
    if "waited.state" in ast.unparse(node):
        return "remaining"
    names = [each for each in ast.walk(node) if isinstance(each, ast.Name | ast.Attribute)]
    last = names[0] if names else None
    return name_of(last.attr if isinstance(last, ast.Attribute) else last.id if last else "value")


def name_of(name: str) -> str:
    return name.strip("_").replace("_", " ").lower() or "value"


def code_texts(source: Source, node: ast.expr) -> list[str]:
    """Return the codes that an expression may be."""
    found: list[str] = []
    for text in source.texts(node):
        prefixed = re.fullmatch(r"<(?:prefix)>(_[a-z_]+)", text)
        if text == "not_<wait for>":
            found += [f"not_{wait}" for wait in WAITS]
        else:
            found += [f"{prefix}{prefixed[1]}" for prefix in PREFIXES] if prefixed else [text]
    return [text for text in found if CODE.fullmatch(text)]


def by_status(source: Source) -> Iterator[tuple[str, str]]:
    """Yield the codes that a file chooses by HTTP status, with a message."""
    for node in source.nodes:
        if isinstance(node, ast.Dict) and all(isinstance(getattr(key, "value", None), int) for key in node.keys):
            for key, value in zip(node.keys, node.values, strict=True):
                status = str(key.value) if isinstance(key, ast.Constant) else "<status>"
                yield from ((text, f"HTTP status {status}") for text in code_texts(source, value))
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "get":
            yield from ((text, "another HTTP status") for value in node.args[1:] for text in code_texts(source, value))


def beside_hint(source: Source) -> Iterator[tuple[str, str]]:
    """Yield the codes that a file returns as a pair of code and hint."""
    for node in source.nodes:
        if (
            isinstance(node, ast.Tuple)
            and len(node.elts) == 2
            and isinstance(node.elts[1], ast.Constant | ast.JoinedStr)
        ):
            hint = source.texts(node.elts[1])[0]
            yield from ((text, hint) for text in code_texts(source, node.elts[0]) if " " in hint)


def beside_message(source: Source) -> Iterator[tuple[str, str]]:
    """Yield the codes that stand in for the code of an outcome, in a pair with their message."""
    for node in source.nodes:
        if isinstance(node, ast.Tuple) and len(node.elts) == 2 and isinstance(node.elts[0], ast.IfExp):
            yield from ((text, source.texts(node.elts[1])[0]) for text in code_texts(source, node.elts[0].orelse))


@cache
def entries() -> dict[str, Entry]:
    """Return all codes in alphabetical order."""
    found: dict[str, Entry] = {}

    def add(code: str, path: Path, messages: list[str], hints: list[str]) -> None:
        entry = found.setdefault(code, Entry(code))
        entry.files.add(path.relative_to(ROOT).as_posix())
        entry.messages += [text for text in messages if useful(text) and text not in entry.messages]
        entry.hints += [text for text in hints if useful(text) and text not in entry.hints]

    for path in files("plugins/**/*.py"):
        source, indirect = Source(path), False
        for call in source.calls():
            first = 1 if getattr(call.func, "id", "") == "NoAnswer" else 0
            if len(call.args) <= first:
                continue
            given = code_texts(source, call.args[first])
            indirect = indirect or not given
            rest = call.args[first + 1 :]
            named = {keyword.arg: keyword.value for keyword in call.keywords}
            text = rest[0] if rest else named.get("message")
            hint = rest[1] if len(rest) > 1 else named.get("hint")
            for code in given:
                add(
                    code,
                    path,
                    source.texts(text) if text else [],
                    source.texts(hint) if hint else [],
                )
        for code, message in beside_message(source):
            add(code, path, [message], [])
        if indirect:
            for code, status in by_status(source):
                peer = _PEERS.get(code.partition("_")[0], "Kafka Connect")
                add(code, path, [f"{peer} refused the request with {status}: <its message>."], [])
            for code, next_step in beside_hint(source):
                add(code, path, [], [next_step])
    return dict(sorted(found.items()))


def useful(text: str) -> bool:
    """Return whether a text consists of more than placeholders."""
    return len(re.sub(r"<[^>]*>", "", text).strip()) > 8


def shortened(text: str) -> str:
    """Return the first sentences of a text, as many as fit. At least the first one is whole."""
    whole, *rest = re.split(r"(?<=[.!?]) (?=[A-Z\"])", text)
    for sentence in rest:
        if len(whole) + len(sentence) > LONG:
            break
        whole = f"{whole} {sentence}"
    return whole


def cell(texts: list[str], otherwise: str) -> str:
    """Return the texts as a cell of a Markdown table, with placeholders in italics. Of many it has the first three."""
    short = list(dict.fromkeys(shortened(re.sub(r"\s+", " ", OPTIONAL.sub("", text)).strip()) for text in texts))
    shown = short if sum(map(len, short)) <= WHOLE else short[:3]
    more = [f"and {len(short) - len(shown)} more"] if len(short) > len(shown) else []
    escaped = "<br>".join([*(re.sub(r"([|*])", r"\\\1", text) for text in shown), *more])
    return re.sub(r"<(?!br>)([^<>]*)>", r"*\1*", re.sub(r"(?<!-)(?<!br)><", "> <", escaped)) or otherwise


def page() -> str:
    """Return the text of docs/error-codes.md."""
    rows = [
        f"| `{entry.code}` | {cell(entry.messages, COMPOSED.get(entry.code, 'See the message.'))} "
        f"| {cell(entry.hints, PASSED_ON.get(entry.code, 'Correct what the message names.'))} |"
        for entry in entries().values()
    ]
    return HEAD + "\n".join(rows) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
