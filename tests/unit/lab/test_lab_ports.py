# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The ports of a lab are free now, outside the ephemeral range, and different for different labs."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from lab.errors import LabError
from lab.ports import BLOCK, LOWEST, all_free, choose, is_free

HERE = Path("/srv/one/build/lab")


def every(port: int) -> bool:
    return True


def test_the_same_folder_gets_the_same_ports() -> None:
    assert choose(HERE, 6, every, 32_768) == choose(HERE, 6, every, 32_768)


def test_two_folders_rarely_share_ports() -> None:
    found = {choose(Path(f"/srv/checkout-{number}/build/lab"), 6, every, 32_768) for number in range(50)}
    assert len(found) > 45


def test_ports_are_consecutive_and_below_the_ephemeral_range() -> None:
    ports = choose(HERE, 6, every, 32_768)
    assert ports == tuple(range(ports[0], ports[0] + 6))
    assert ports[0] >= LOWEST
    assert ports[-1] < 32_768


@pytest.mark.parametrize("taken", [0, 3, 5])
def test_one_taken_port_moves_the_whole_run(taken: int) -> None:
    first = choose(HERE, 6, every, 32_768)
    moved = choose(HERE, 6, lambda port: port != first[taken], 32_768)
    assert not set(moved) & set(first)
    assert abs(moved[0] - first[0]) >= BLOCK


def test_a_machine_whose_ephemeral_range_begins_at_1024_still_gets_ports() -> None:
    assert len(choose(HERE, 6, every, 1024)) == 6


def test_without_a_free_port_the_error_is_clear() -> None:
    with pytest.raises(LabError, match="no 6 consecutive free ports between 10000 and 32768"):
        choose(HERE, 6, lambda port: False, 32_768)


def test_a_listening_socket_takes_its_port() -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]
        assert not is_free(port)
        assert not all_free([port])
    assert is_free(port)


def test_a_listener_on_all_addresses_takes_the_port_too() -> None:
    with socket.socket() as listener:
        listener.bind(("0.0.0.0", 0))
        listener.listen()
        assert not is_free(listener.getsockname()[1])
