// A watch of etcd at a member that answers as a test says. What real members do is tried in
// tests/conformance and tests/integration.

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/result.h"
#include "base/time.h"
#include "codec/grpc.h"
#include "codec/protobuf.h"
#include "runtime/endpoint.h"
#include "runtime/stream.h"
#include "runtime/task.h"
#include "sim/sim_runtime.h"
#include "sim/world.h"
#include "store/etcd/etcd_store.h"
#include "store/store.h"
#include "support/fake_door.h"
#include "support/http2_server.h"

namespace wardmote::store {
namespace {

using codec::ProtoField;
using codec::ProtoWriter;
using runtime::Endpoint;
using runtime::Task;
using sim::SimRuntime;
using sim::World;
using testing::Http2Server;
using namespace std::chrono_literals;

/// A WatchResponse.
struct Said {
  std::int64_t revision = 0;
  bool created = false;
  bool canceled = false;
  std::int64_t compacted = 0;
  std::string reason;
  bool fragment = false;
  std::vector<std::pair<std::string, std::int64_t>> events;  ///< a key, and its revision

  [[nodiscard]] std::string text() const {
    ProtoWriter header;
    header.number(3, revision);
    ProtoWriter message;
    message.message(1, header.take());
    message.number(3, created ? 1 : 0);
    message.number(4, canceled ? 1 : 0);
    message.number(5, compacted);
    message.bytes(6, reason);
    message.number(7, fragment ? 1 : 0);
    for (const auto& [key, at] : events) {
      ProtoWriter pair;
      pair.bytes(1, key);
      pair.number(2, at);
      pair.number(3, at);
      pair.number(4, 3);
      pair.bytes(5, "v");
      pair.number(6, 42);
      ProtoWriter event;
      event.message(2, pair.take());
      message.message(11, event.take());
    }
    return codec::encode_grpc_message(message.take());
  }
};

/// A number of the message in field `of`; -1: there is none.
std::int64_t number_in(std::string_view message, std::uint32_t of, std::uint32_t number) {
  std::int64_t found = -1;
  (void)codec::for_each_field(message, [&](const ProtoField& field) -> Result<void> {
    if (field.number != of) return {};
    return codec::for_each_field(field.bytes, [&](const ProtoField& inner) -> Result<void> {
      if (inner.number == number) found = inner.integer();
      return {};
    });
  });
  return found;
}

/// One member, and one who watches the keys below `/p/` from revision 8 on.
class EtcdWatchTest : public ::testing::Test {
 protected:
  EtcdWatchTest() {
    const auto spawn = [this](std::string name, Task<void> task) {
      host_.spawn(std::move(name), std::move(task));
    };
    door_ = std::make_unique<testing::FakeDoor>(
        host_, spawn, "etcd", kAt, [this](auto stream) { return serve(this, std::move(stream)); });
    door_->open();
    store_ = std::make_unique<etcd::EtcdStore>(us_, etcd::ClientOptions{.endpoints = {kAt}}, "/p/");
    watch_ = store_->watch(KeyRange::prefix(""), 8);
  }
  ~EtcdWatchTest() override {
    watch_.reset();
    world_.run(us_, store_->stop());
    host_.crash();
  }

  static Task<void> serve(EtcdWatchTest* test, std::shared_ptr<runtime::Stream> stream) {
    Http2Server server([](const Http2Server::Request&) { return std::nullopt; });
    std::string unread;
    server.on_piece = [&](std::int32_t id, std::string_view data) {
      unread += data;
      constexpr std::size_t kPrefix = 5;  // the last four bytes of it are the length
      while (unread.size() >= kPrefix) {
        const auto length = static_cast<unsigned char>(unread[4]);
        if (unread.size() < kPrefix + length) return;
        test->hear(server, id, std::string_view(unread).substr(kPrefix, length));
        unread.erase(0, kPrefix + length);
      }
    };
    for (;;) {
      std::array<char, 4096> chunk;
      const auto got = co_await stream->read_some(chunk, test->host_.deadline_in(1h));
      if (!got) co_return;
      server.receive(std::string_view(chunk.data(), *got));
      const std::string answer = server.take_output();
      const auto sent = co_await stream->write(answer, test->host_.deadline_in(1h));
      if (!sent) co_return;
    }
  }
  void hear(Http2Server& server, std::int32_t stream, std::string_view message) {
    const std::int64_t from = number_in(message, 1, 3);
    if (from < 0) {
      ++asked_;
      if (when_asked_) server.say(stream, when_asked_->text());
      return;
    }
    asked_from_.push_back(from);
    if (ended_with_) {
      server.answer(stream, {"", {{"grpc-status", *ended_with_}}});
      return;
    }
    for (const Said& said : answer_) server.say(stream, said.text());
  }
  Result<WatchBatch> next(Duration patience = 2s) {
    return run_task(world_, us_, watch_->next(us_.deadline_in(patience)));
  }
  Errc why(Duration patience = 2s) {
    const auto got = next(patience);
    return got ? Errc::kInternal : got.error().code;
  }
  static Said created(std::int64_t revision) { return {.revision = revision, .created = true}; }
  static Said events(std::vector<std::pair<std::string, std::int64_t>> all) {
    Said said;
    said.revision = all.back().second;
    said.events = std::move(all);
    return said;
  }

  inline static const Endpoint kAt = Endpoint::tcp("a", 2379);
  World world_{1};
  SimRuntime& us_ = world_.host("us");
  SimRuntime& host_ = world_.host("a");
  std::vector<Said> answer_;  ///< to each new watch
  std::vector<std::int64_t> asked_from_;
  std::optional<std::string> ended_with_;  ///< a status, in place of `answer_`
  int asked_ = 0;                          ///< whether it is there
  std::optional<Said> when_asked_;
  std::unique_ptr<testing::FakeDoor> door_;
  std::unique_ptr<etcd::EtcdStore> store_;
  std::unique_ptr<Watch> watch_;
};

TEST_F(EtcdWatchTest, AnAnswerInPiecesIsOneBatch) {
  Said first = events({{"/p/a", 8}});
  first.fragment = true;
  answer_ = {created(7), first, events({{"/p/b", 8}, {"/p/c", 9}})};
  const auto batch = next();
  ASSERT_TRUE(batch) << batch.error().describe();
  ASSERT_EQ(batch->events.size(), 3U);
  EXPECT_EQ(batch->events[0].key.key, "a");
  EXPECT_EQ(batch->events[0].key.value, "v");
  EXPECT_EQ(batch->events[0].key.create_revision, 8);
  EXPECT_EQ(batch->events[0].key.version, 3);
  EXPECT_EQ(batch->events[0].key.lease, 42);
  EXPECT_EQ(batch->events[2].key.key, "c");
  EXPECT_EQ(batch->upto, 9);
  EXPECT_EQ(asked_from_, std::vector<std::int64_t>{8});
}

TEST_F(EtcdWatchTest, HalfAnAnswerIsForgottenWhenTheRestDoesNotCome) {
  Said first = events({{"/p/a", 8}});
  first.fragment = true;
  answer_ = {created(7), first};
  EXPECT_EQ(why(), Errc::kTimeout);
  door_->hang_up();
  answer_ = {created(8), events({{"/p/a", 8}, {"/p/b", 8}})};
  EXPECT_EQ(why(20s), Errc::kTimeout) << "it is there again";
  const auto batch = next(20s);
  ASSERT_TRUE(batch) << batch.error().describe();
  EXPECT_EQ(batch->events.size(), 2U);
}

TEST_F(EtcdWatchTest, AfterABreakItGoesOnBehindTheLastEventThatItGave) {
  answer_ = {created(7), events({{"/p/a", 8}}), events({{"/p/b", 9}})};
  ASSERT_TRUE(next());
  ASSERT_TRUE(next());
  door_->hang_up();
  answer_ = {created(10), events({{"/p/b", 9}}), events({{"/p/c", 10}})};
  EXPECT_EQ(why(20s), Errc::kTimeout) << "it is there again";
  const auto batch = next(20s);
  ASSERT_TRUE(batch) << batch.error().describe();
  ASSERT_EQ(batch->events.size(), 1U) << "nothing is told twice";
  EXPECT_EQ(batch->events[0].key.key, "c");
  EXPECT_EQ(asked_from_, (std::vector<std::int64_t>{8, 10}));
}

// It may be another store, in which so much was written that nothing shows it.
TEST_F(EtcdWatchTest, AfterABreakItSaysSoAsSoonAsTheStoreIsThereAgain) {
  answer_ = {created(7), events({{"/p/a", 8}})};
  ASSERT_TRUE(next());
  EXPECT_FALSE(watch_->resumed());
  door_->hang_up();
  answer_ = {created(9)};
  const TimePoint begun = us_.now();
  EXPECT_EQ(why(20s), Errc::kTimeout);
  EXPECT_LT(us_.now() - begun, 1s);
  EXPECT_TRUE(watch_->resumed());
  EXPECT_EQ(why(), Errc::kTimeout);
  EXPECT_GE(us_.now() - begun, 2s) << "once";
}

TEST_F(EtcdWatchTest, ProgressWithoutEventsIsNotAskedForAgain) {
  answer_ = {created(7), {.revision = 12}};
  EXPECT_EQ(why(), Errc::kTimeout);
  door_->hang_up();
  answer_ = {created(12)};
  EXPECT_EQ(why(), Errc::kTimeout);
  EXPECT_EQ(asked_from_, (std::vector<std::int64_t>{8, 13}));
}

TEST_F(EtcdWatchTest, WhatIsForgottenIsSaidAndTheNextAnswerIsOfANewWatch) {
  answer_ = {{.canceled = true, .compacted = 20}};
  EXPECT_EQ(why(), Errc::kMissing);
  answer_ = {created(7), events({{"/p/a", 8}})};
  EXPECT_TRUE(next());
  EXPECT_EQ(asked_from_.size(), 2U);
}

TEST_F(EtcdWatchTest, AMemberThatIsBehindHasNothingOfWhatComesNext) {
  answer_ = {created(6)};
  EXPECT_EQ(why(), Errc::kMissing);
  answer_ = {created(7)};
  EXPECT_EQ(why(), Errc::kTimeout) << "it comes next";
  EXPECT_EQ(asked_from_.size(), 2U);
}

// Others have written so much since that the revisions are there again.
TEST_F(EtcdWatchTest, AfterTheStoreWasSetBackWhatComesNextIsAnother) {
  for (const bool breaks : {true, false}) {
    answer_ = {created(7)};
    EXPECT_EQ(why(), Errc::kTimeout);
    store_->seen().see(9);
    store_->seen().answered(store_->seen().mark(), 3, false);
    answer_ = {created(12), events({{"/p/a", 12}})};
    if (breaks) door_->hang_up();
    EXPECT_EQ(why(), Errc::kMissing);
    watch_ = store_->watch(KeyRange::prefix(""), 8);
  }
}

TEST_F(EtcdWatchTest, WhoMayNotReadIsDeniedAndAnyOtherEndIsABreak) {
  answer_ = {{.canceled = true, .reason = "rpc error: permission denied"}};
  EXPECT_EQ(why(), Errc::kDenied);
  answer_ = {{.canceled = true, .reason = "no leader"}};
  EXPECT_EQ(why(), Errc::kClosed);
  EXPECT_GE(asked_from_.size(), 3U) << "and it is tried again";
}

/// A timeout would mean that nothing has happened, and something missing that events are gone.
TEST_F(EtcdWatchTest, ACallThatTheServerEndsIsABreakWhateverItsStatus) {
  for (const char* const status : {"0", "4", "5"}) {
    ended_with_ = status;
    const auto ended = next();
    ASSERT_FALSE(ended);
    EXPECT_EQ(ended.error().code, Errc::kClosed) << status;
    EXPECT_EQ(ended.error().context.contains("ended by the server"),
              std::string_view(status) == "0");
  }
  ended_with_.reset();
  answer_ = {created(7), events({{"/p/a", 8}})};
  EXPECT_TRUE(next(20s));
}

TEST_F(EtcdWatchTest, AMemberThatHasAnsweredIsAskedAgainAtOnceHoweverOftenItFailedBefore) {
  answer_ = {{.canceled = true, .reason = "no leader"}};
  EXPECT_EQ(why(), Errc::kClosed);
  answer_ = {created(7)};
  EXPECT_EQ(why(3s), Errc::kTimeout);
  const std::size_t asked = asked_from_.size();
  door_->hang_up();
  EXPECT_EQ(why(200ms), Errc::kTimeout);
  EXPECT_EQ(asked_from_.size(), asked + 1);
}

TEST_F(EtcdWatchTest, AMemberThatRefusesIsAskedMoreSeldomAfterAWhile) {
  answer_ = {{.canceled = true, .reason = "no leader"}};
  const TimePoint begun = us_.now();
  while (us_.now() - begun < 60s) EXPECT_EQ(why(), Errc::kClosed);
  EXPECT_GT(asked_from_.size(), 25U);
  EXPECT_LT(asked_from_.size(), 45U);
}

TEST_F(EtcdWatchTest, AKeyOfAnotherIsNotBelieved) {
  answer_ = {created(7), events({{"/q/a", 8}})};
  EXPECT_EQ(why(), Errc::kTimeout) << "it was asked again";
  EXPECT_EQ(why(), Errc::kProtocol);
}

TEST_F(EtcdWatchTest, AMemberThatSaysNothingHasNotSaidThatNothingHappened) {
  EXPECT_EQ(why(), Errc::kClosed);
}

TEST_F(EtcdWatchTest, AMemberThatCannotBeReachedIsSaidSo) {
  host_.crash();
  for (int i = 0; i < 3; ++i) {
    const auto got = next();
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().context.find("no answer yet"), std::string::npos)
        << got.error().describe();
  }
}

TEST_F(EtcdWatchTest, AMemberThatFallsSilentIsAskedAfterFiveSecondsAndLeftAfterEight) {
  answer_ = {created(7)};
  EXPECT_EQ(why(4s), Errc::kTimeout);
  EXPECT_EQ(asked_, 0);
  EXPECT_EQ(why(3900ms), Errc::kTimeout);
  EXPECT_EQ(asked_, 1);
  EXPECT_EQ(asked_from_.size(), 1U);
  EXPECT_EQ(why(3s), Errc::kTimeout) << "another watch has begun";
  EXPECT_EQ(asked_from_.size(), 2U);
}

TEST_F(EtcdWatchTest, AMemberThatAnswersIsAskedEachFiveSecondsAndStays) {
  answer_ = {created(7)};
  when_asked_ = Said{.revision = 7};
  EXPECT_EQ(why(31s), Errc::kTimeout);
  EXPECT_GE(asked_, 5);
  EXPECT_LE(asked_, 6);
  EXPECT_EQ(asked_from_.size(), 1U);
}

TEST_F(EtcdWatchTest, AfterASilentMemberTheNextOneIsAskedToo) {
  answer_ = {created(7)};
  EXPECT_EQ(why(6s), Errc::kTimeout);
  EXPECT_EQ(asked_, 1);
  answer_ = {};
  EXPECT_EQ(why(3s), Errc::kClosed) << "it was left, and the next one says nothing either";
  ASSERT_EQ(asked_from_.size(), 2U);
  EXPECT_EQ(asked_, 1);
  EXPECT_EQ(why(5s), Errc::kClosed);
  EXPECT_EQ(asked_, 2);
}

}  // namespace
}  // namespace wardmote::store
