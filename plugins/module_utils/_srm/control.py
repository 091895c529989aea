# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find and run ``srm-control``, and classify its errors. The only module that calls this tool.

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
# A refusal that may pass: a topic that SRM has not discovered yet, or brokers that restart.
RETRIED = "srm_control_refused"
# The tool does not know an argument.
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
    """How to call srm-control."""

    #: The command and its first arguments.
    command: tuple[str, ...] = ("srm-control",)
    config: str | None = None
    bootstrap_servers: str | None = None
    #: Name of the environment variable that holds ``secret``, which is passed in no other way.
    secret_env: str = "SECURESTOREPASS"
    secret: str | None = field(default=None, repr=False)
    #: Seconds until a call is killed.
    timeout: float = 60.0

    @classmethod
    def from_params(cls, params: Mapping[str, Any]) -> Tool:
        """Build from a module's parameters, see ``srm_options()``."""
        names = ("config", "bootstrap_servers", "secret_env", "secret", "timeout")
        return cls(tuple(params["command"]), **{name: params[name] for name in names})


class SrmControl:
    """The calls of one task. ``requests`` lists them with their exit codes. None: the call was killed after a time-out.

    Raises ``srm_control_missing`` if the tool is not on this host.
    """

    def __init__(self, tool: Tool) -> None:
        self._tool = tool
        self._program = _found(tool.command)
        self.requests: list[dict[str, Any]] = []

    def list(self, where: FlowList) -> Listing:
        """Return the list that the tool prints. Raises ``srm_list_unreadable`` if the output cannot be parsed."""
        ended = self._run(KINDS[where.kind], where.source, where.target, "--list")
        try:
            return parse_listing(ended.stdout, where)
        except DrError as error:
            lines = self._last_lines(ended)
            raise DrError(error.code, f"{error.message} Last lines: {lines}", error.hint, where.flow) from error

    def change(self, where: FlowList, flag: str, entries: Sequence[str]) -> None:
        """Send entries with one of ``planning.FLAGS``. An exit code of 0 does not prove that the list has changed."""
        require_ownership()
        self._run(KINDS[where.kind], where.source, where.target, flag, ",".join(entries))

    def export(self, source: str, target: str, group: str) -> str:
        """Return the output of ``offsets --export``."""
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
                "Set command (of the site in kafka_dr_srm, or of the module) to the path of srm-control on this host.",
                f"{source}->{target}",
            ) from error
        request["rc"] = ended.rc
        if ended.rc != 0:
            raise self._error(ended, arguments, f"{source}->{target}")
        return ended

    def _error(self, ended: Ended, arguments: Sequence[str], flow: str) -> DrError:
        text, shown = f"{ended.stderr}\n{ended.stdout}", " ".join(("srm-control", *arguments))[:_SHOWN]
        if ended.rc is None:
            code, how = "srm_control_timeout", f"did not exit within {self._tool.timeout:g} s and was killed"
            hint = (
                "It is unknown whether the call took effect. Check that this host can reach the brokers of both"
                " clusters, then start the same playbook again."
            )
        else:
            how = f"exited with {ended.rc}, wanted 0"
            code, hint = self._kind_of(text, arguments[0])
        text = f'"{shown}" {how}. Last lines: {self._last_lines(ended)}'
        return DrError(code, text, hint, flow, retriable=code == RETRIED)

    def _kind_of(self, text: str, subcommand: str) -> tuple[str, str]:
        """Return the error code and the hint for a refusal.

        The patterns are guesses from the messages of other tools. A message that matches no pattern counts as RETRIED.
        """
        name, given = self._tool.secret_env, self._tool.secret is not None
        if re.search(rf"(?:{_SECRET.format(re.escape(name))}).*(?:{_REFUSES_SECRET})", text, re.I):
            fault = f"srm-control did not accept the secret in {name}" if given else f"No secret was given for {name}"
            return "srm_secret", f"{fault}. Set secret, and set secret_env to the variable that Cloudera Manager names."
        if _NO_ALIAS.search(text):
            return "srm_alias_unknown", (
                "Use the aliases of the deployed client configuration, in the same letter case. After a change in "
                "Cloudera Manager, deploy the client configuration first."
            )
        if _NO_SUBCOMMAND.search(text):
            since = (
                " It came with Cloudera Runtime 7.3.2." if subcommand == KINDS["reverse_checkpointed_topics"] else ""
            )
            return (
                "srm_control_old",
                f'This srm-control does not have the subcommand "{subcommand}".{since} Upgrade it.',
            )
        if _UNSUPPORTED.search(text):
            return UNSUPPORTED, "This srm-control does not accept these arguments. Compare them with its -h."
        return RETRIED, (
            "Run the same command by hand; its arguments are in the result. Check that this host can reach the "
            "brokers, and that the client configuration was deployed after the last change in Cloudera Manager."
        )

    def _last_lines(self, ended: Ended) -> str:
        return last_lines(*(without_secrets(text, [self._tool.secret or ""]) for text in (ended.stdout, ended.stderr)))


def export_offsets(control: SrmControl, source: str, target: str, group: str) -> list[dict[str, Any]]:
    """Return the translated offsets of ``group`` on ``target`` as rows {topic, partition, offset}.

    Works while ``source`` is down. Topics have their names on ``target``. No rows: SRM has no checkpoint of the group.
    """
    return parse_export(control.export(source, target, group), group)


def _found(command: Sequence[str]) -> str:
    """Return the path of the program. Also searches the parcel's folder, which is in PATH only in a login shell."""
    name = command[0] if command else ""
    path = os.pathsep.join((os.environ.get("PATH", os.defpath), _PARCEL))
    found = shutil.which(os.path.expanduser(name), path=path) if name else None  # noqa: PTH111
    if found is None:
        raise DrError(
            "srm_control_missing",
            f'The program "{name}" was not found on this host, neither in PATH nor in {_PARCEL}.',
            "Run the task on a host with an SRM role or gateway of the flow's target cluster, or set command.",
        )
    return found
