# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys of the share coordinator's state, as a broker of Kafka 4.3.1 wrote them."""

from __future__ import annotations

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.share_groups import ShareState, parsed_key

TOPIC_ID = b"G,\x03\xd69\xc2Mm\xa5\xa0\r\xc4\x88+\x81\x99"
SNAPSHOT = b"\x00\x00\x00\x0etills (shared)" + TOPIC_ID + b"\x00\x00\x00\x01"


def test_a_key_names_the_group_and_the_partition() -> None:
    assert parsed_key(SNAPSHOT) == ShareState("tills (shared)", "RywD1jnCTW2loA3EiCuBmQ", 1)
    assert parsed_key(b"\x00\x01" + SNAPSHOT[2:]) == parsed_key(SNAPSHOT)


@pytest.mark.parametrize("key", [b"", b"\x00\x02" + SNAPSHOT[2:], SNAPSHOT[:-1], SNAPSHOT + b"\x00"])
def test_a_key_of_an_unknown_type_is_not_parsed(key: bytes) -> None:
    assert parsed_key(key) is None
