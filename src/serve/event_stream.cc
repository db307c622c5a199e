#include "serve/event_stream.h"

#include <boost/json/serialize.hpp>
#include <boost/json/string.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/format.h"
#include "base/text.h"
#include "base/text_row.h"
#include "base/time.h"
#include "judge/change.h"
#include "judge/thing.h"
#include "runtime/event.h"
#include "runtime/http.h"
#include "runtime/runtime.h"
#include "serve/change_text.h"

namespace wardmote::serve {

using runtime::Task;
using namespace std::chrono_literals;

namespace {

/// The most bytes that are sent at once: more would be memory for readers that do not take it.
constexpr std::size_t kChunkBytes = 16 << 10;
constexpr Duration kBetweenGroups = 1ms;
constexpr Duration kBeat = 5s;

std::string quoted(std::string_view text) {
  return boost::json::serialize(boost::json::string(text));
}

std::shared_ptr<const std::string> shared(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}

}  // namespace

class EventStream::Reader final : public runtime::HttpStream {
 public:
  Reader(EventStream& stream, runtime::Event& event, std::string greeting, std::uint64_t next)
      : stream_(&stream), event_(&event), greeting_(std::move(greeting)), next_(next) {
    ++stream_->readers_;
  }
  ~Reader() override { --stream_->readers_; }

  Task<std::shared_ptr<const std::string>> next() override {
    for (;;) {
      const TimePoint now = stream_->runtime_->now();
      if (ended_ || !stream_->kept(next_)) co_return nullptr;
      if (std::shared_ptr<const std::string> piece = take(now)) {
        spoke_ = now;
        co_return piece;
      }
      co_await event_->wait();
    }
  }

  void end() noexcept override {
    ended_ = true;
    event_->notify();
  }

 private:
  std::shared_ptr<const std::string> take(TimePoint now) {
    if (!greeting_.empty()) return shared(std::exchange(greeting_, {}));
    if (next_ < stream_->next_) {
      const Chunk& chunk = stream_->chunk(next_);
      next_ = chunk.after;
      return chunk.text;
    }
    // A beat comes every kBeat, so that the next one is still in time.
    if (now - spoke_ <= kHeartbeat - kBeat) return nullptr;
    static const std::shared_ptr<const std::string> kComment = shared(":\n\n");
    return kComment;
  }

  EventStream* stream_;
  runtime::Event* event_;
  std::string greeting_;
  std::uint64_t next_;
  TimePoint spoke_;
  bool ended_ = false;
};

EventStream::EventStream(runtime::Runtime& runtime)
    : runtime_(&runtime),
      run_(fmt::format("{:x}", std::chrono::floor<std::chrono::milliseconds>(
                                   runtime.wall_now().time_since_epoch())
                                   .count())),
      tasks_(runtime.executor()) {
  for (auto& group : groups_) group = std::make_unique<runtime::Event>(runtime.executor());
}

EventStream::~EventStream() {
  check(readers_ == 0, "an EventStream was destroyed before its readers");
}

void EventStream::publish(const judge::Change& change, const ChangeText& text) {
  check(change.sequence == next_, "changes out of order");
  kept_.push_back(
      {change.at, TextRow<4>({text.kind, to_string(change.of.kind), change.of.name, text.data})});
  kept_bytes_ += kept_.back().texts.bytes();
  ++next_;
  while (kept_.size() > kEvents || kept_bytes_ > kBytes) {
    kept_bytes_ -= kept_.front().texts.bytes();
    kept_.pop_front();
    ++first_;
  }
  wake();
}

std::shared_ptr<runtime::HttpStream> EventStream::follow(std::string_view last_id) {
  if (readers_ >= kReaders) return nullptr;
  const std::optional<std::uint64_t> position = this->position(last_id);
  const std::uint64_t next = position.value_or(next_);
  const std::string greeting = fmt::format("retry: 1000\nid: {}\nevent: {}\ndata: {{}}\n\n",
                                           id(next - 1), position ? "hello" : "reset");
  auto reader = std::make_shared<Reader>(*this, *groups_[seated_++ % kGroups], greeting, next);
  if (!std::exchange(beating_, true)) tasks_.spawn("event heartbeat", beat());
  return reader;
}

std::string EventStream::last_id() const {
  return id(next_ - 1);
}

Task<void> EventStream::stop() {
  co_await tasks_.stop();
}

std::string EventStream::id(std::uint64_t sequence) const {
  return fmt::format("{}-{}", run_, sequence);
}

std::string EventStream::text_of(std::uint64_t sequence) const {
  const auto& [at, texts] = kept_[sequence - first_];
  return fmt::format(
      "id: {}\ndata: "
      R"({{"sequence":{},"at":"{}","kind":{},"scope":{},"subject":{},"data":{}}})"
      "\n\n",
      id(sequence), sequence, format_utc(at), quoted(texts[0]), quoted(texts[1]), quoted(texts[2]),
      texts[3]);
}

std::optional<std::uint64_t> EventStream::position(std::string_view last_id) const {
  if (last_id.empty()) return next_;
  if (take_until(last_id, '-') != run_) return std::nullopt;
  const auto last = parse_number<std::uint64_t>(last_id);
  if (!last || *last >= next_ || !kept(*last + 1)) return std::nullopt;
  return *last + 1;
}

const EventStream::Chunk& EventStream::chunk(std::uint64_t sequence) {
  const bool whole = chunk_.text != nullptr && chunk_.from == sequence &&
                     (chunk_.after == next_ || chunk_.text->size() >= kChunkBytes);
  if (whole) return chunk_;
  std::string text;
  std::uint64_t after = sequence;
  for (; after < next_ && text.size() < kChunkBytes; ++after) text += text_of(after);
  chunk_ = {sequence, after, shared(std::move(text))};
  return chunk_;
}

void EventStream::wake() {
  wake_again_ = true;
  if (readers_ > 0 && !std::exchange(waking_, true)) tasks_.spawn("wake readers", wake_groups());
}

Task<void> EventStream::wake_groups() {
  while (std::exchange(wake_again_, false)) {
    for (const auto& group : groups_) {
      if (group->waiting() == 0) continue;
      group->notify();
      co_await runtime_->sleep_until(runtime_->now() + kBetweenGroups);
    }
  }
  waking_ = false;
}

Task<void> EventStream::beat() {
  while (readers_ > 0) {
    co_await runtime_->sleep_until(runtime_->now() + kBeat);
    wake();
  }
  beating_ = false;
}

}  // namespace wardmote::serve
