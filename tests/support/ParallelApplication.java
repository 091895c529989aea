// Copyright (c) 2026 switchback.kafka_dr contributors
// GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
// SPDX-License-Identifier: GPL-3.0-or-later

import io.confluent.parallelconsumer.ParallelConsumerOptions;
import io.confluent.parallelconsumer.ParallelStreamProcessor;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.serialization.StringDeserializer;

/**
 * An application with Parallel Consumer, which processes records of a topic at the same time and commits after each one. Arguments:
 * bootstrap servers, group, topic, values that it never finishes. Prints the value of each record when it has processed it.
 * It is ended by a kill.
 */
public class ParallelApplication {
  public static void main(String[] where) throws Exception {
    Set<String> unfinished = Set.of(where[3].split(","));
    CountDownLatch never = new CountDownLatch(1);
    Map<String, Object> settings =
        Map.of(
            "bootstrap.servers", where[0],
            "group.id", where[1],
            "enable.auto.commit", false,
            "auto.offset.reset", "none",
            "session.timeout.ms", 6000,
            "heartbeat.interval.ms", 2000);
    KafkaConsumer<String, String> consumer = new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer());
    ParallelStreamProcessor<String, String> application =
        ParallelStreamProcessor.createEosStreamProcessor(
            ParallelConsumerOptions.<String, String>builder()
                .consumer(consumer)
                .ordering(ParallelConsumerOptions.ProcessingOrder.UNORDERED)
                .maxConcurrency(8)
                .commitInterval(Duration.ofMillis(100))
                .build());
    application.subscribe(List.of(where[2]));
    application.poll(
        records -> {
          if (unfinished.contains(records.value())) {
            try {
              never.await();
            } catch (InterruptedException end) {
              throw new IllegalStateException(end);
            }
          }
          System.out.println(records.value());
        });
    never.await();
  }
}
