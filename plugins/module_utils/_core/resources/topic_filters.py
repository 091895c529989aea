# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Topics and groups that MirrorMaker 2's filters exclude: DefaultTopicFilter and DefaultGroupFilter of Kafka 4.3.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

__all__ = ["Filter", "excluded_by_default", "filters_of", "left_out", "takes_any"]

# Values of a missing setting.
_EXCLUDED = {
    "topics": r"mm2.*\.internal, .*\.replica, __.*",
    "groups": "console-consumer-.*, connect-.*, __.*",
}
# A name that matches itself as an expression.
_PLAIN = re.compile(r"[A-Za-z0-9._-]+")
_JAVA_CHARACTER = re.compile(r"\\x\{([0-9a-fA-F]+)\}")


@dataclass(frozen=True)
class Filter:
    """Regular expressions that match whole names."""

    #: ``topics`` or ``groups``.
    kind: str
    allowed: tuple[str, ...]
    denied: tuple[str, ...]

    def takes(self, name: str) -> bool | None:
        """Whether the filter takes ``name``; None: unknown, because an expression cannot be evaluated here."""
        denied, allowed = _matches(self.denied, name), _matches(self.allowed, name)
        if denied or allowed is False:
            return False
        return None if None in (denied, allowed) else True


def filters_of(config: Mapping[str, str | None], kinds: Iterable[str]) -> tuple[Filter, ...]:
    """The filters of a connector's configuration."""
    return tuple(
        Filter(kind, _setting(config, kind, ".*"), _setting(config, f"{kind}.exclude", _EXCLUDED[kind]))
        for kind in kinds
    )


def excluded_by_default(kind: str, name: str) -> str | None:
    """The default value of ``topics.exclude`` or ``groups.exclude`` if it excludes ``name``, else None."""
    (found,) = filters_of({}, (kind,))
    return _EXCLUDED[kind] if found.takes(name) is False else None


def takes_any(config: Mapping[str, str | None], topics: Iterable[str]) -> bool:
    """Whether a connector may take one of ``topics``, or any topic if ``topics`` is empty. True if unknown."""
    (own,), names = filters_of(config, ("topics",)), list(topics)
    return not names or any(own.takes(name) is not False for name in names)


def left_out(filters: Iterable[Filter], names: Mapping[str, Sequence[str]]) -> tuple[list[str], list[str]]:
    """The names that the filters exclude, and those for which that is unknown, in words. ``names``: by kind."""
    missing: list[str] = []
    unknown: list[str] = []
    for one in filters:
        for name in names.get(one.kind, ()):
            taken = one.takes(name)
            if not taken:
                (unknown if taken is None else missing).append(f'the {one.kind.removesuffix("s")} "{name}"')
    return missing, unknown


def _setting(config: Mapping[str, str | None], key: str, default: str) -> tuple[str, ...]:
    text = config.get(key)
    return tuple(entry.strip() for entry in (default if text is None else text).split(",") if entry.strip())


def _matches(patterns: Sequence[str], name: str) -> bool | None:
    """True if a pattern matches; None: no pattern matches, and one of them cannot be evaluated."""
    if _PLAIN.fullmatch(name) and (name in patterns or name.replace(".", r"\.") in patterns):
        return True  # as most lists have it: evaluating 500 expressions for each of 500 topics takes seconds
    found: bool | None = False
    for pattern in patterns:
        try:
            if re.fullmatch(_JAVA_CHARACTER.sub(lambda code: re.escape(chr(int(code[1], 16))), pattern), name):
                return True
        except (re.error, ValueError, OverflowError):
            found = None
    return found
