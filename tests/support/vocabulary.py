# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find retired words. ``python tests/support/vocabulary.py [PATH ...]`` lists them as ``path:line: word: text``.

One concept has one word, the one that Kafka, Kafka Connect, MirrorMaker 2, Ansible or Spark uses. ``RETIRED`` maps what
this project used before to what it uses now.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from repository import name, read, tracked

#: What users read: pages, documentation of options, messages and names of tasks. Review sees the tests.
UNDER = ("*.md", "awx", "changelogs", "docs", "extensions", "meta", "playbooks", "plugins", "roles", "spark")
SUFFIXES = (".py", ".yml", ".yaml", ".md", ".j2", ".json", ".sh", ".toml")
# Written by antsibull-changelog from the fragments.
EXCLUDED = ("changelogs/changelog.yaml",)

#: Retired word (a regular expression for one word) -> what to write.
RETIRED = {
    "sights?": "snapshot",
    "told|untold": "reported, returned, known",
    "seams?": "cut",
    "vouched": "trusted_offsets",
    "only_here": "unreplicated_below",
    "syncs_since": "offset_syncs_start",
    "drill(s|ed)?": "rehearsal",
    "amiss": "drift",
    "unsound": "unsafe_settings",
    "rogue": "undeclared writer",
    "intruders?": "foreign writer",
    "strangers?": "undeclared group or writer",
    "circling": "replication_loop",
    "unlisted": "undeclared_topics",
    "uncopied": "unreplicated",
    "mend(s|ed|ing)?": "fix, repair",
    "soundness": "correctness rule (R n)",
    "whoever|whomever": "name the actor",
    "nobody|somebody": "name the actor",
    "whatever": "name the thing",
    "(un)?slips?": "misconfiguration",
    "FourTopics|OneTopic": "PrefixedOffsets, IdentityOffsets",
    "behind": "after, at or after (for offsets); lagging behind is the only use",
    "copied": "replicated (for MirrorMaker 2)",
    "holes?": "skipped range, gap",
    "positions?": "committed offset; position only for a consumer's next fetch offset",
    "tells?": "reports, returns",
    "(arm|armed|arming|rearm(ed)?)": "seed",
    "wish(es)?": "desired state",
    "beats?": "heartbeat",
}
#: Where a retired word is the right one after all: the text around it.
ALLOWED = re.compile(
    r"""
    (lag(s|ged|ging)?|fall(s|en|ing)?|fell|seconds|records|offsets|far|minutes?)\ behind\b
    | (is|are|was|were|be)\ behind\b(?!\ (it|the|a|an|its|each|them|that|this)\b)
    | behind\ (a|an|the)\ (reverse\ |load\ |HTTP\ |TLS\ )?(proxy|gateway|balancer|firewall)
    | (files?|image|jars?|config|checkout)(\ (is|are|be))?\ copied\ (to|into|from|with|by)\b
    | consumer'?s?\ (fetch\ )?position | fetch\ position | \.position\( | positional
    | position:\ (absolute|relative|fixed|sticky)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_WORDS = re.compile(rf"(?<![A-Za-z])({'|'.join(RETIRED)})(?![a-z])", re.IGNORECASE)


def found(path: Path) -> Iterator[tuple[int, str, str]]:
    """Line number, retired word and line, for each retired word of a file."""
    for number, line in enumerate(read(path).splitlines(), 1):
        rest = ALLOWED.sub("", line)
        for match in _WORDS.finditer(rest):
            yield number, match.group(1), line.strip()


def files(*under: str) -> list[Path]:
    """The texts that users read, or those below the given paths."""
    return [
        path for path in tracked(*(under or UNDER)) if path.suffix in SUFFIXES and not name(path).startswith(EXCLUDED)
    ]


def main() -> int:
    """List what is left; 1 if anything is."""
    count = 0
    for path in files(*sys.argv[1:]):
        for number, word, line in found(path):
            print(f"{name(path)}:{number}: {word}: {line[:140]}")
            count += 1
    print(f"{count} retired words")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
