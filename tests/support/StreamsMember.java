// Copyright (c) 2026 switchback.kafka_dr contributors
// GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
// SPDX-License-Identifier: GPL-3.0-or-later

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.UUID;
import org.apache.kafka.common.message.OffsetCommitRequestData;
import org.apache.kafka.common.message.OffsetCommitResponseData;
import org.apache.kafka.common.message.StreamsGroupHeartbeatRequestData;
import org.apache.kafka.common.message.StreamsGroupHeartbeatResponseData;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.AbstractRequest;
import org.apache.kafka.common.requests.OffsetCommitRequest;
import org.apache.kafka.common.requests.RequestHeader;
import org.apache.kafka.common.requests.ResponseHeader;
import org.apache.kafka.common.requests.StreamsGroupHeartbeatRequest;

/**
 * A member of a streams group (KIP-1071), with the requests of Kafka Streams and without its library: it joins, commits an
 * offset that grows, and leaves when its standard input ends. Arguments: host, port, group, topic. The broker must be the
 * group's coordinator. Prints a line after each commit.
 */
public class StreamsMember {
  private static final String ME = UUID.randomUUID().toString();
  private final Socket socket;
  private final String group;
  private final String topic;
  private int requests = 0;
  private int epoch = 0;

  StreamsMember(String[] where) throws Exception {
    socket = new Socket(where[0], Integer.parseInt(where[1]));
    group = where[2];
    topic = where[3];
  }

  public static void main(String[] where) throws Exception {
    StreamsMember member = new StreamsMember(where);
    member.heartbeat(0);
    for (int offset = 1; System.in.available() == 0; offset++) {
      member.heartbeat(member.epoch);
      member.commit(offset);
      Thread.sleep(500);
    }
    member.heartbeat(-1);
  }

  private void heartbeat(int with) throws Exception {
    StreamsGroupHeartbeatRequestData data = new StreamsGroupHeartbeatRequestData();
    data.setGroupId(group).setMemberId(ME).setMemberEpoch(with).setRebalanceTimeoutMs(30000).setProcessId(ME);
    data.setActiveTasks(List.of()).setStandbyTasks(List.of()).setWarmupTasks(List.of()).setClientTags(List.of());
    if (with == 0) {
      var part = new StreamsGroupHeartbeatRequestData.Subtopology().setSubtopologyId("0").setSourceTopics(List.of(topic));
      data.setTopology(
          new StreamsGroupHeartbeatRequestData.Topology().setEpoch(0).setSubtopologies(List.of(part)));
    } else {
      var task = new StreamsGroupHeartbeatRequestData.TaskIds().setSubtopologyId("0").setPartitions(List.of(0));
      data.setActiveTasks(with > 0 ? List.of(task) : List.of());
    }
    short version = ApiKeys.STREAMS_GROUP_HEARTBEAT.latestVersion(false);
    ByteBuffer answer = send(new StreamsGroupHeartbeatRequest.Builder(data).build(version));
    var read = new StreamsGroupHeartbeatResponseData(new ByteBufferAccessor(answer), version);
    require(read.errorCode(), read.errorMessage());
    epoch = read.memberEpoch();
  }

  private void commit(int offset) throws Exception {
    var row = new OffsetCommitRequestData.OffsetCommitRequestPartition().setPartitionIndex(0).setCommittedOffset(offset);
    var topics = new OffsetCommitRequestData.OffsetCommitRequestTopic().setName(topic).setPartitions(List.of(row));
    OffsetCommitRequestData data = new OffsetCommitRequestData();
    data.setGroupId(group).setMemberId(ME).setGenerationIdOrMemberEpoch(epoch).setTopics(List.of(topics));
    short version = 9;
    ByteBuffer answer = send(OffsetCommitRequest.Builder.forTopicNames(data).build(version));
    var read = new OffsetCommitResponseData(new ByteBufferAccessor(answer), version);
    require(read.topics().get(0).partitions().get(0).errorCode(), "commit");
    System.out.println("committed " + offset);
  }

  private ByteBuffer send(AbstractRequest request) throws Exception {
    RequestHeader header = new RequestHeader(request.apiKey(), request.version(), "streams-app", requests++);
    ByteBuffer sent = request.serializeWithHeader(header);
    DataOutputStream out = new DataOutputStream(socket.getOutputStream());
    out.writeInt(sent.remaining());
    out.write(sent.array(), sent.arrayOffset() + sent.position(), sent.remaining());
    out.flush();
    DataInputStream in = new DataInputStream(socket.getInputStream());
    byte[] bytes = new byte[in.readInt()];
    in.readFully(bytes);
    ByteBuffer answer = ByteBuffer.wrap(bytes);
    ResponseHeader.parse(answer, request.apiKey().responseHeaderVersion(request.version()));
    return answer;
  }

  private static void require(short code, String text) {
    if (code != 0) {
      throw new IllegalStateException(Errors.forCode(code) + ": " + text);
    }
  }
}
