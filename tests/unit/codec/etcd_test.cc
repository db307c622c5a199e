#include "codec/etcd/messages.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "codec/grpc.h"
#include "codec/protobuf.h"

namespace wardmote::codec::etcd {
namespace {

using namespace std::string_literals;

std::string header(std::int64_t revision) {
  ProtoWriter inner;
  inner.number(1, 1484163906896517841);
  inner.number(2, 1027665774393297543);
  inner.number(3, revision);
  inner.number(4, 2);
  return inner.take();
}

// What Debian's etcdctl 3.4.23 put on the wire: PutRequest{key "a", value "b"}, and so on.
TEST(EtcdMessages, RequestsAreThoseOfThePublicFieldNumbers) {
  EXPECT_EQ(encode(RangeRequest{{"a", "b"}, 2, 7}), "\x0a\x01\x61\x12\x01\x62\x18\x02\x20\x07");
  EXPECT_EQ(encode(RangeRequest{{"a", ""}}), "\x0a\x01\x61");
  EXPECT_EQ(encode_lease_grant(300), "\x08\xac\x02");
  EXPECT_EQ(encode_lease_id(-1), "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
  EXPECT_EQ(encode_watch_create({"a", "b"}, 5),
            "\x0a\x0c\x0a\x01\x61\x12\x01\x62\x18\x05\x20\x01\x40\x01"s);
  EXPECT_EQ(encode_watch_progress(), "\x1a\x00"s);
  EXPECT_EQ(encode_authenticate("u", "p"), "\x0a\x01u\x12\x01p");
}

TEST(EtcdMessages, ATransactionWritesTheOperandAlsoWhereItIsZero) {
  TxnRequest request;
  request.compare.push_back({{"k", ""}, CompareTarget::kCreate, CompareResult::kEqual, 0});
  request.compare.push_back({{"k", "l"}, CompareTarget::kMod, CompareResult::kLess, 9});
  request.compare.push_back({{"k", ""}, CompareTarget::kValue, CompareResult::kEqual, ""s});
  request.success.emplace_back(PutRequest{"k", "v", 3});
  request.success.emplace_back(DeleteRequest{{"k", "l"}});
  EXPECT_EQ(encode(request),
            "\x0a\x07\x10\x01\x1a\x01k\x28\x00"s
            "\x0a\x0d\x08\x02\x10\x02\x1a\x01k\x30\x09\x82\x04\x01l"s
            "\x0a\x07\x10\x03\x1a\x01k\x3a\x00"s
            "\x12\x0a\x12\x08\x0a\x01k\x12\x01v\x18\x03"s
            "\x12\x08\x1a\x06\x0a\x01k\x12\x01l"s);
}

TEST(EtcdMessages, ARangeIsRead) {
  ProtoWriter key;
  key.bytes(1, "k");
  key.number(2, 3);
  key.number(3, 5);
  key.number(4, 2);
  key.bytes(5, "v");
  key.number(6, 77);
  ProtoWriter message;
  message.message(1, header(9));
  message.message(2, key.take());
  message.number(3, 1);
  message.number(4, 12);
  message.bytes(99, "of a later version");
  const auto range = decode_range(message.take());
  ASSERT_TRUE(range) << range.error().describe();
  EXPECT_EQ(range->revision, 9);
  EXPECT_TRUE(range->more);
  ASSERT_EQ(range->keys.size(), 1U);
  EXPECT_EQ(range->keys[0].key + range->keys[0].value, "kv");
  EXPECT_EQ(range->keys[0].create_revision, 3);
  EXPECT_EQ(range->keys[0].mod_revision, 5);
  EXPECT_EQ(range->keys[0].version, 2);
  EXPECT_EQ(range->keys[0].lease, 77);
}

TEST(EtcdMessages, AWatchResponseIsRead) {
  ProtoWriter key;
  key.bytes(1, "gone");
  key.number(3, 8);
  ProtoWriter event;
  event.number(1, 1);
  event.message(2, key.take());
  ProtoWriter message;
  message.message(1, header(9));
  message.number(2, -1);
  message.number(4, 1);
  message.number(5, 4);
  message.bytes(6, "why");
  message.number(7, 1);
  message.message(11, event.take());
  const auto watch = decode_watch(message.take());
  ASSERT_TRUE(watch) << watch.error().describe();
  EXPECT_EQ(watch->watch_id, -1);
  EXPECT_TRUE(watch->canceled && watch->fragment && !watch->created);
  EXPECT_EQ(watch->compact_revision, 4);
  EXPECT_EQ(watch->cancel_reason, "why");
  ASSERT_EQ(watch->events.size(), 1U);
  EXPECT_TRUE(watch->events[0].removed);
  EXPECT_EQ(watch->events[0].key.mod_revision, 8);
}

TEST(EtcdMessages, WhatIsCutOffOrOfAnotherTypeIsNoAnswer) {
  ProtoWriter message;
  message.message(1, header(9));
  message.number(2, 1);
  const std::string whole = message.take();
  EXPECT_TRUE(decode_txn(whole));
  for (std::size_t size = 1; size < whole.size(); ++size) {
    if (size == whole.size() - 2) continue;  // ends behind the header
    EXPECT_EQ(decode_txn(std::string_view(whole).substr(0, size)).error().code, Errc::kProtocol);
  }
  message.bytes(2, "a text for a number");
  EXPECT_EQ(decode_txn(message.take()).error().code, Errc::kProtocol);
  EXPECT_EQ(decode_txn("\x0b").error().code, Errc::kProtocol) << "a group";
  EXPECT_EQ(decode_txn("\x02\x00"s).error().code, Errc::kProtocol) << "field 0";
}

TEST(GrpcFramer, MessagesComeWholeInWhateverPieces) {
  const std::string bytes = encode_grpc_message("one") + encode_grpc_message("") +
                            encode_grpc_message(std::string(200'000, 'x'));
  for (const std::size_t step : {1UL, 7UL, 4096UL, bytes.size()}) {
    GrpcFramer framer(1 << 20);
    std::vector<std::size_t> sizes;
    for (std::size_t at = 0; at < bytes.size(); at += step) {
      framer.feed(std::string_view(bytes).substr(at, step));
      for (;;) {
        const auto message = framer.next();
        ASSERT_TRUE(message);
        if (!*message) break;
        sizes.push_back((*message)->size());
      }
    }
    EXPECT_EQ(sizes, (std::vector<std::size_t>{3, 0, 200'000}));
    EXPECT_TRUE(framer.empty());
  }
}

TEST(GrpcFramer, AMessageOverTheLimitIsRefusedBeforeItArrives) {
  GrpcFramer framer(1000);
  framer.feed(encode_grpc_message(std::string(1001, 'x')).substr(0, 5));
  EXPECT_EQ(framer.next().error().code, Errc::kLimit);
  GrpcFramer other(1000);
  other.feed("\x01\0\0\0\0"s);
  EXPECT_EQ(other.next().error().code, Errc::kProtocol);
}

// What a member of Debian's etcd 3.4.23 says in Status::errors after it has run out of its quota.
TEST(EtcdMessages, AnAlarmIsReadFromTheErrorsOfAStatus) {
  const auto alarm = parse_alarm("memberID:10276657743932975437 alarm:NOSPACE ");
  ASSERT_TRUE(alarm);
  EXPECT_EQ(alarm->member, 10276657743932975437U);
  EXPECT_EQ(alarm->name, "NOSPACE");
  EXPECT_EQ(parse_alarm("alarm:CORRUPT ")->member, 0U);
  for (const std::string_view other :
       {"etcdserver: no leader", "", "alarm:", "memberID:x alarm:NOSPACE", "memberID:7",
        "memberID:7 alarm:0123456789012345678901234567890123456789"}) {
    EXPECT_FALSE(parse_alarm(other)) << other;
  }
}

TEST(EtcdMessages, AMemberIsAskedForItsOwnListByAnEmptyMessage) {
  EXPECT_EQ(encode_own_member_list(), "");
}

TEST(EtcdMessages, TheQuotaOfLaterVersionsIsRead) {
  ProtoWriter status;
  status.bytes(2, "3.6.1");
  status.number(12, 8589934592);
  const std::string message = status.take();
  EXPECT_EQ(decode_status(message)->db_size_quota, 8589934592);
}

}  // namespace
}  // namespace wardmote::codec::etcd
