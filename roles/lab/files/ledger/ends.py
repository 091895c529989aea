# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Log ends of the topics that a client reads."""

from __future__ import annotations

from pathlib import Path

from confluent_kafka import Consumer, KafkaException, TopicPartition

from ledger.consumer import consumer_config
from ledger.definition import Definition
from ledger.endpoint import covers, read_endpoint

ANSWER_SECONDS = 5.0


class Ends:
    """Reads log ends with the configuration of the client. Never subscribes, so it does not affect the group."""

    def __init__(self, client: Definition) -> None:
        self._endpoint = read_endpoint(Path(client.endpoint_file))
        self._kafka = Consumer({**consumer_config(client, self._endpoint, 0), "log_level": 0})

    def total(self) -> int | None:
        """Sum of the log ends of all partitions that the client reads. None while one of them is unknown."""
        try:
            topics = self._kafka.list_topics(timeout=ANSWER_SECONDS).topics.values()
            places = [
                TopicPartition(topic.topic, number)
                for topic in topics
                if covers(self._endpoint.subscribe, topic.topic)
                for number in topic.partitions
            ]
            found = [self._kafka.get_watermark_offsets(place, timeout=ANSWER_SECONDS) for place in places]
        except KafkaException:
            return None
        return sum(end for _start, end in found) if found else None

    def close(self) -> None:
        self._kafka.close()
