# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find lines of the Replication Configs that are accepted silently but have no effect, or not the intended one.

Sources of the names: org.apache.kafka.connect.mirror.MirrorConnectorConfig, MirrorSourceConfig, MirrorCheckpointConfig,
MirrorHeartbeatConfig, MirrorMakerConfig (3.9), and Cloudera's pages on Streams Replication Manager 7.3.2.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping

__all__ = ["KNOWN", "misconfigurations"]

_NAMES = """
    enabled topics topics.exclude topics.blacklist groups groups.exclude groups.blacklist
    topic.filter.class group.filter.class config.property.filter.class config.properties.exclude
    config.properties.blacklist use.defaults.from tasks.max replication.factor
    replication.policy.class replication.policy.separator replication.policy.internal.topic.separator.enabled
    refresh.topics.enabled refresh.topics.interval.seconds refresh.groups.enabled refresh.groups.interval.seconds
    sync.topic.configs.enabled sync.topic.configs.interval.seconds sync.topic.acls.enabled
    sync.topic.acls.interval.seconds sync.group.offsets.enabled sync.group.offsets.interval.seconds
    emit.checkpoints.enabled emit.checkpoints.interval.seconds emit.heartbeats.enabled
    emit.heartbeats.interval.seconds emit.offset-syncs.enabled heartbeats.replication.enabled
    heartbeats.topic.replication.factor checkpoints.topic.replication.factor offset-syncs.topic.replication.factor
    offset-syncs.topic.location offset.lag.max offset.flush.interval.ms offset.flush.timeout.ms
    offset.storage.replication.factor status.storage.replication.factor config.storage.replication.factor
    consumer.poll.timeout.ms admin.timeout.ms add.source.alias.to.metrics exactly.once.source.support
    dedicated.mode.enable.internal.rest bootstrap.servers security.protocol clusters
    """
KNOWN = frozenset(_NAMES.split())
_FLOW = re.compile(r"([^.\s]+)->([^.\s]+)(?:\.(.*))?")
_LAYERS = ("workers", "connectors")
# Clients and converters have hundreds of other settings.
_CLIENTS = ("producer.", "consumer.", "admin.", "ssl.", "sasl.", "metrics.", "key.", "value.", "header.", "client.")
# Minimum similarity of a misspelt name. With a lower value, two valid names match: refresh.topics... and
# refresh.groups...
_CLOSE = 0.9


def misconfigurations(lines: Mapping[str, str], aliases: Iterable[str] = ()) -> list[str]:
    """Return one sentence for each line that is probably a mistake.

    ``aliases``: cluster aliases of the pair. Empty: unknown, so aliases in keys are not checked.
    """
    known = list(aliases)
    flows = {alias for key in lines if (match := _FLOW.fullmatch(key)) for alias in match.group(1, 2)}
    prefixed = lines.get("replication.policy.separator") != "__"
    problems = []
    for key, value in lines.items():
        problems += _aliases(key, known)
        problems += _name(key)
        if prefixed:
            problems += _underscores(key, value, known or sorted(flows))
    return problems


def _aliases(key: str, known: list[str]) -> list[str]:
    match = _FLOW.fullmatch(key)
    if match is not None and match.group(3) is None:
        return [f'The line "{key}" has no effect: "{key}.enabled" enables a flow.']
    named = list(match.group(1, 2)) if match is not None else [key.partition(".")[0]]
    problems = []
    for alias in named if known else ():
        similar = next((other for other in known if other.lower() == alias.lower()), None)
        if alias in known or (similar is None and match is None):
            continue
        hint = (
            f'Did you mean "{similar}"? Aliases are case-sensitive'
            if similar
            else f"The aliases are {', '.join(known)}"
        )
        problems.append(f'The line "{key}" names "{alias}", which is not a cluster alias. {hint}.')
    return problems


def _name(key: str) -> list[str]:
    """Find a property whose name, without its prefix, is similar to a known name."""
    bare = _bare(key)
    if bare in KNOWN or bare.startswith(_CLIENTS):
        return []
    close = difflib.get_close_matches(bare, KNOWN, n=1, cutoff=_CLOSE)
    return [f'The line "{key}" is not a known property. Did you mean "{close[0]}"?'] if close else []


def _bare(key: str) -> str:
    """Strip the prefix from a property: ``workers.``, ``connectors.``, ``ALIAS.`` or ``A->B.``, if it has one."""
    match = _FLOW.fullmatch(key)
    if match is not None:
        return match.group(3) or "enabled"
    first, _dot, rest = key.partition(".")
    if first in _LAYERS or (rest in KNOWN and key not in KNOWN):
        return rest
    # If an alias precedes a misspelt name, the rest is more similar to a known name than the whole.
    whole, part = _nearness(key), _nearness(rest)
    return rest if part > whole else key


def _nearness(name: str) -> float:
    close = difflib.get_close_matches(name, KNOWN, n=1, cutoff=_CLOSE)
    return difflib.SequenceMatcher(None, name, close[0]).ratio() if close else 0.0


def _underscores(key: str, value: str, aliases: list[str]) -> list[str]:
    problems = []
    for word in [key, *(part.strip() for part in value.split(","))]:
        alias, underscores, topic = word.partition("__")
        if underscores and topic and alias in aliases:
            problems.append(f'"{word}" in the line "{key}" matches no topic: the replica is named "{alias}.{topic}".')
    return problems
