# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The only caller of ``srm-control``: finds it, runs it, and says plainly what it refused.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .._bounded import Ended, last_lines, run_bounded
from .._core.errors import DrError
from .._core.redaction import without_secrets
from .._guard import require_ownership
from .exports import parse_export
from .listing import KINDS, FlowList, Listing, parse_listing

__all__ = ["RETRIED", "UNSUPPORTED", "SrmControl", "Tool", "export_offsets"]

_PARCEL = "/opt/cloudera/parcels/CDH/bin"
# Refused now, perhaps not a little later: a topic that is not discovered yet, brokers that restart.
RETRIED = "srm_control_refused"
# The tool does not know what it was asked.
UNSUPPORTED = "srm_control_unsupported"
_UNSUPPORTED = re.compile(r"unrecogni[sz]ed (?:argument|option)|unknown (?:argument|option)|invalid choice", re.I)
_NO_SUBCOMMAND = re.compile(
    r"invalid choice: '?(?:topics|groups|reverse-|offsets)|(?:unknown|unrecogni[sz]ed) (?:sub)?-?command", re.I
)
_NO_ALIAS = re.compile(
    r"(?:unknown|no such|not found|undefined)[\w ]* alias|alias[^\n]*(?:unknown|not found|undefined|no such)", re.I
)
_SECRET = r"secure[ _-]?stor|keystore|truststore|{}"
_REFUSES_SECRET = r"not set|set the|missing|required|protected|must be|incorrect|invalid|wrong|fail|unable|cannot"
_SHOWN = 300


@dataclass(frozen=True)
class Tool:
    """How to call it. ``secret`` goes into the environment variable ``secret_env`` and nowhere else; seconds."""

    command: tuple[str, ...] = ("srm-control",)
    config: str | None = None
    bootstrap_servers: str | None = None
    secret_env: str = "SECURESTOREPASS"
    secret: str | None = field(default=None, repr=False)
    timeout: float = 60.0

    @classmethod
    def from_params(cls, params: Mapping[str, Any]) -> Tool:
        """From a module's parameters, see ``srm_options()``."""
        names = ("config", "bootstrap_servers", "secret_env", "secret", "timeout")
        return cls(tuple(params["command"]), **{name: params[name] for name in names})


class SrmControl:
    """Calls of one task. ``requests`` lists them, with their exit codes (None: ended for taking too long)."""

    def __init__(self, tool: Tool) -> None:
        self._tool = tool
        self._program = _found(tool.command)
        self.requests: list[dict[str, Any]] = []

    def list(self, where: FlowList) -> Listing:
        """The list as the tool shows it. Raises ``srm_list_unreadable`` for an output that is none."""
        ended = self._run(KINDS[where.kind], where.source, where.target, "--list")
        try:
            return parse_listing(ended.stdout, where)
        except DrError as error:
            said = self._said(ended)
            raise DrError(error.code, f"{error.message} Last lines: {said}", error.hint, where.flow) from error

    def change(self, where: FlowList, flag: str, entries: Sequence[str]) -> None:
        """Send entries with one of ``planning.FLAGS``. That it ends with 0 does not mean that they are there."""
        require_ownership()
        self._run(KINDS[where.kind], where.source, where.target, flag, ",".join(entries))

    def export(self, source: str, target: str, group: str) -> str:
        """What ``offsets --export`` prints."""
        return self._run("offsets", source, target, "--group", group, "--export").stdout

    def _run(self, subcommand: str, source: str, target: str, *rest: str) -> Ended:
        tool = self._tool
        arguments = [subcommand, "--source", source, "--target", target, *rest]
        for flag, value in (("--config", tool.config), ("--bootstrap-servers", tool.bootstrap_servers)):
            arguments += [flag, value] if value else []
        argv = [self._program, *tool.command[1:], *arguments]
        request: dict[str, Any] = {"argv": argv, "rc": None}
        self.requests.append(request)
        try:
            ended = run_bounded(argv, {tool.secret_env: tool.secret} if tool.secret else {}, tool.timeout)
        except OSError as error:
            raise DrError(
                "srm_control_missing",
                f'"{self._program}" could not be started: {error.strerror or error}.',
                "Name the tool of this host in the option command.",
                f"{source}->{target}",
            ) from error
        request["rc"] = ended.rc
        if ended.rc != 0:
            raise self._error(ended, arguments, f"{source}->{target}")
        return ended

    def _error(self, ended: Ended, arguments: Sequence[str], flow: str) -> DrError:
        text, shown = f"{ended.stderr}\n{ended.stdout}", " ".join(("srm-control", *arguments))[:_SHOWN]
        if ended.rc is None:
            code, how = "srm_control_timeout", f"did not end within {self._tool.timeout:g} s and was ended"
            hint = "Whether it took effect is unknown. Are the brokers of both clusters reachable from this host?"
        else:
            how = f"ended with {ended.rc}, wanted 0"
            code, hint = self._kind_of(text, arguments[0])
        return DrError(code, f'"{shown}" {how}. Last lines: {self._said(ended)}', hint, flow)

    def _kind_of(self, text: str, subcommand: str) -> tuple[str, str]:
        """What kind of refusal it is. The words are guesses from other tools; what none fits may pass later."""
        name, given = self._tool.secret_env, self._tool.secret is not None
        if re.search(rf"(?:{_SECRET.format(re.escape(name))}).*(?:{_REFUSES_SECRET})", text, re.I):
            fault = f"What was given in {name} was not accepted" if given else f"Nothing was given for {name}"
            return "srm_secret", f"{fault}: set secret, and secret_env as Cloudera Manager names the variable."
        if _NO_ALIAS.search(text):
            return "srm_alias_unknown", (
                "Aliases are those of the deployed client configuration, in the same letter case. After a change in "
                "Cloudera Manager, deploy the client configuration first."
            )
        if _NO_SUBCOMMAND.search(text):
            since = (
                " It came with Cloudera Runtime 7.3.2." if subcommand == KINDS["reverse_checkpointed_topics"] else ""
            )
            return "srm_control_old", f'This srm-control does not know "{subcommand}".{since}'
        if _UNSUPPORTED.search(text):
            return UNSUPPORTED, "This srm-control does not take these arguments. Compare them with its -h."
        return RETRIED, (
            "Run the same command by hand; its arguments are in the result. Are the brokers reachable from this host, "
            "and was the client configuration deployed after the last change in Cloudera Manager?"
        )

    def _said(self, ended: Ended) -> str:
        return last_lines(*(without_secrets(text, [self._tool.secret or ""]) for text in (ended.stdout, ended.stderr)))


def export_offsets(control: SrmControl, source: str, target: str, group: str) -> list[dict[str, Any]]:
    """Translated positions of ``group`` on ``target``, also while ``source`` is down: rows {topic, partition, offset}.

    Topics have their names on ``target``. No rows: SRM has no checkpoint of the group.
    """
    return parse_export(control.export(source, target, group), group)


def _found(command: Sequence[str]) -> str:
    """The program's path. The parcel's folder is looked into too: a login shell would have it in PATH."""
    name = command[0] if command else ""
    path = os.pathsep.join((os.environ.get("PATH", os.defpath), _PARCEL))
    found = shutil.which(os.path.expanduser(name), path=path) if name else None  # noqa: PTH111
    if found is None:
        raise DrError(
            "srm_control_missing",
            f'"{name}" is not on this host, neither in PATH nor in {_PARCEL}.',
            "Run the task on a host with an SRM role or gateway of the flow's target cluster, or set command.",
        )
    return found
