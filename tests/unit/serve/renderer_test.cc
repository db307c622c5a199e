#include "serve/renderer.h"

#include <gtest/gtest.h>
#include <boost/json/parse.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "net/asio_runtime.h"

namespace wardmote::serve {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;
using runtime::HttpResponse;
using runtime::Task;

/// As many pieces as are wanted, each of which keeps the loop busy for as long as it is told.
class Slow final : public Rendering {
 public:
  Slow(net::AsioRuntime& runtime, int pieces, Duration each)
      : runtime_(runtime), left_(pieces), each_(each) {}

  bool add_piece(std::string& text) override {
    const TimePoint end = runtime_.now() + each_;
    while (runtime_.now() < end) {
    }
    text += 'p';
    return --left_ > 0;
  }

 private:
  net::AsioRuntime& runtime_;
  int left_;
  Duration each_;
};

class RendererTest : public ::testing::Test {
 protected:
  ~RendererTest() override { runtime_.run(renderer_.stop()); }

  HttpResponse ask(const std::string& key, int pieces, Duration each) {
    return renderer_.answer("text/plain", key, [&] {
      ++begun_;
      return std::make_unique<Slow>(runtime_, pieces, each);
    });
  }

  static Task<void> finish(HttpResponse* response) {
    if (response->hold == nullptr) co_return;
    std::optional<HttpResponse> other = co_await response->hold->wait();
    *response = *std::move(other);
  }

  /// Counts how often others have their turn until `response` is there, and how long they waited at
  /// most.
  Task<void> watch(const HttpResponse* response) {
    while (response->shared == nullptr) {
      const TimePoint asked = runtime_.now();
      co_await runtime_.sleep_until(asked);
      longest_ = std::max(longest_, runtime_.now() - asked);
      ++turns_;
    }
  }

  net::AsioRuntime runtime_;
  Renderer renderer_{runtime_};
  int begun_ = 0;
  int turns_ = 0;
  Duration longest_{};
};

TEST_F(RendererTest, AShortAnswerIsThereAtOnce) {
  const HttpResponse response = ask("a", 3, 0us);
  EXPECT_EQ(response.hold, nullptr);
  ASSERT_NE(response.shared, nullptr);
  EXPECT_EQ(*response.shared, "ppp");
  EXPECT_EQ(response.content_type, "text/plain");
}

TEST_F(RendererTest, ALongAnswerIsRenderedOnceForAllWhoAskAndOthersHaveTheirTurn) {
  std::vector<HttpResponse> responses;
  for (int i = 0; i < 50; ++i) responses.push_back(ask("a", 60, 200us));
  std::vector<Task<void>> tasks;
  for (HttpResponse& one : responses) tasks.push_back(finish(&one));
  tasks.push_back(watch(&responses.front()));
  runtime_.run(runtime::run_all(runtime_.executor(), std::move(tasks)));
  EXPECT_EQ(begun_, 1);
  EXPECT_EQ(responses.front().shared->size(), 60U);
  for (const HttpResponse& one : responses) {
    EXPECT_EQ(one.shared, responses.front().shared) << "the same bytes";
  }
  EXPECT_GE(turns_, 8) << "12 ms in slices of one";
}

TEST_F(RendererTest, WhoAsksSoonAfterHasTheSameAndLaterANewOne) {
  HttpResponse first = ask("a", 10, 1ms);
  runtime_.run(finish(&first));
  const HttpResponse second = ask("a", 10, 1ms);
  EXPECT_EQ(second.shared, first.shared);
  EXPECT_EQ(begun_, 1) << "it took 10 ms: it is kept for 200";
  HttpResponse other = ask("b", 1, 0us);
  EXPECT_EQ(begun_, 2);
  runtime_.run(runtime_.sleep_until(runtime_.now() + 2100ms));
  HttpResponse third = ask("a", 10, 1ms);
  runtime_.run(finish(&third));
  EXPECT_EQ(begun_, 3) << "nothing is older than two seconds";
  EXPECT_NE(third.shared, first.shared);
  EXPECT_EQ(second.shared.use_count(), 2) << "only who is sent it still has it";
}

TEST_F(RendererTest, WhatIsAskedForAfterAnOrderIsRenderedAnew) {
  HttpResponse kept = ask("a", 10, 1ms);
  runtime_.run(finish(&kept));
  HttpResponse under_way = ask("b", 10, 1ms);
  renderer_.forget();
  HttpResponse again = ask("a", 10, 1ms);
  HttpResponse other = ask("b", 10, 1ms);
  EXPECT_EQ(begun_, 4);
  for (HttpResponse* const one : {&under_way, &again, &other}) {
    runtime_.run(finish(one));
    EXPECT_EQ(one->shared->size(), 10U);
  }
  EXPECT_NE(under_way.shared, other.shared);
}

TEST_F(RendererTest, NobodyWaitsForARenderingWhenTheAgentEnds) {
  HttpResponse response = ask("a", 1000, 1ms);
  ASSERT_NE(response.hold, nullptr);
  runtime_.run(renderer_.stop());
  runtime_.run(finish(&response));
  EXPECT_EQ(response.status, 503);
}

TEST_F(RendererTest, HowManyAreUnderWayIsBounded) {
  std::vector<HttpResponse> responses;
  for (int i = 0; i < 65; ++i) responses.push_back(ask(std::to_string(i), 4, 500us));
  EXPECT_EQ(responses[63].status, 200);
  EXPECT_EQ(responses[64].status, 503);
  for (HttpResponse& one : responses) runtime_.run(finish(&one));
  EXPECT_EQ(ask("64", 1, 0us).status, 200);
}

TEST_F(RendererTest, ManyShortAnswersOfOneTurnTakeTurnsToo) {
  std::vector<HttpResponse> responses;
  for (int i = 0; i < 30; ++i) responses.push_back(ask(std::to_string(i), 1, 900us));
  const auto at_once =
      std::ranges::count_if(responses, [](const HttpResponse& one) { return one.hold == nullptr; });
  EXPECT_GE(at_once, 1);
  EXPECT_LE(at_once, 3) << "27 ms of work in one turn of the loop";
  for (HttpResponse& one : responses) {
    runtime_.run(finish(&one));
    EXPECT_EQ(one.status, 200);
  }
}

TEST_F(RendererTest, OnePathInManyWordsLeavesRoomForOthers) {
  std::vector<HttpResponse> responses;
  for (int i = 0; i < 34; ++i)
    responses.push_back(ask("/history?most=" + std::to_string(i), 4, 500us));
  EXPECT_EQ(responses[31].status, 200);
  EXPECT_EQ(responses[33].status, 503);
  EXPECT_EQ(ask("/history?most=3", 4, 500us).status, 200) << "somebody asked the same before";
  EXPECT_EQ(ask("/status", 4, 500us).status, 200);
}

/// Two pieces of 10 MiB.
class Huge final : public Rendering {
 public:
  bool add_piece(std::string& text) override {
    text.append(std::size_t{10} << 20, 'p');
    return ++pieces_ < 2;
  }

 private:
  int pieces_ = 0;
};

TEST_F(RendererTest, WhatTakesTooMuchMemoryIsNotKept) {
  const auto huge = [&] {
    ++begun_;
    return std::make_unique<Huge>();
  };
  HttpResponse first = renderer_.answer("text/plain", "huge", huge);
  runtime_.run(finish(&first));
  EXPECT_EQ(first.shared->size(), std::size_t{20} << 20);
  HttpResponse second = renderer_.answer("text/plain", "huge", huge);
  runtime_.run(finish(&second));
  EXPECT_EQ(begun_, 2);
  EXPECT_EQ(first.shared.use_count(), 1) << "only who is sent it still has it";
}

std::string whole(json::object head, std::vector<LongObject::List> lists) {
  LongObject object(std::move(head), std::move(lists));
  std::string text;
  while (object.add_piece(text)) {
  }
  return text;
}

TEST(LongObject, IsTheJsonOfAllItsParts) {
  const auto numbers = [](std::size_t part) {
    return part == 1 ? json::array() : json::array{part, part * 10};
  };
  std::vector<LongObject::List> lists;
  lists.push_back({"some", 3, numbers});
  lists.push_back({"none", 0, numbers});
  lists.push_back({"one", 1, numbers});
  EXPECT_EQ(whole({{"at", "now"}}, lists),
            "{\"at\":\"now\",\"some\":[0,0,2,20],\"none\":[],\"one\":[0,0]}\n");
  EXPECT_EQ(whole({}, lists), "{\"some\":[0,0,2,20],\"none\":[],\"one\":[0,0]}\n");
  EXPECT_EQ(whole({{"at", "now"}}, {}), "{\"at\":\"now\"}\n");
}

}  // namespace
}  // namespace wardmote::serve
