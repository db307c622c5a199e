#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/text_row.h"
#include "base/time.h"
#include "judge/change.h"
#include "runtime/bell.h"
#include "runtime/http.h"
#include "runtime/runtime.h"
#include "runtime/task_group.h"

namespace wardmote::serve {

/// The last changes as server-sent events (HTML Living Standard 9.2), for any number of readers up
/// to kReaders. A reader costs a cursor: all share the kept events. One that is so slow that it
/// loses events is dropped, and learns so when it resumes. Life cycle: stop() before destruction,
/// after the server that has its readers; destroyed after them. Thread: the core loop.
class EventStream {
 public:
  static constexpr std::size_t kReaders = 2048;
  /// Kept for who comes back.
  static constexpr std::size_t kEvents = 65536;
  static constexpr std::size_t kBytes = std::size_t{8} << 20;
  /// A reader that is told nothing else hears a comment at least this often, so that it and we
  /// notice a dead connection.
  static constexpr Duration kHeartbeat = std::chrono::seconds(20);

  explicit EventStream(runtime::Runtime& runtime);
  EventStream(const EventStream&) = delete;
  EventStream& operator=(const EventStream&) = delete;
  ~EventStream();

  /// Changes come in their order.
  void publish(const judge::Change& change);

  /// Follows from after `last_id` on, from now on when it is empty. Begins with the event `hello`,
  /// or with `reset` when events after `last_id` are not known here (any more). Null when there are
  /// too many readers.
  std::shared_ptr<runtime::HttpStream> follow(std::string_view last_id);

  /// The id of the last event, also before the first: who reads the state now and then follows from
  /// here misses nothing. Ids of another run of the agent are not mistaken for ours.
  [[nodiscard]] std::string last_id() const;
  [[nodiscard]] std::size_t readers() const noexcept { return readers_; }

  runtime::Task<void> stop();

 private:
  class Reader;
  static constexpr std::size_t kGroups = 16;

  /// A change whose text is made when somebody reads it.
  struct Kept {
    WallTime at;
    TextRow<4> texts;  ///< kind, scope, subject, data
  };
  struct Chunk {
    std::uint64_t from = 0;   ///< the first event in it
    std::uint64_t after = 0;  ///< the event that follows it
    std::shared_ptr<const std::string> text;
  };

  [[nodiscard]] std::string id(std::uint64_t sequence) const;
  [[nodiscard]] std::string text_of(std::uint64_t sequence) const;
  /// Where to go on, or nothing when that cannot be told from `last_id`.
  [[nodiscard]] std::optional<std::uint64_t> position(std::string_view last_id) const;
  [[nodiscard]] bool kept(std::uint64_t sequence) const noexcept { return sequence >= first_; }
  /// The events from `sequence` on, as many as are sent at once. Readers that are equally far share
  /// it.
  const Chunk& chunk(std::uint64_t sequence);
  void wake();
  runtime::Task<void> wake_groups();
  runtime::Task<void> beat();

  runtime::Runtime* runtime_;
  std::string run_;        ///< tells the ids of this run of the agent from others
  std::deque<Kept> kept_;  ///< from first_ on
  std::size_t kept_bytes_ = 0;
  std::uint64_t first_ = 1;
  std::uint64_t next_ = 1;  ///< of the next change
  Chunk chunk_;
  std::size_t readers_ = 0;
  std::size_t seated_ = 0;  ///< readers that ever were; picks the group
  /// Readers wait in groups that are woken one after the other, so that a change for a thousand of
  /// them does not hold up the loop.
  std::array<std::unique_ptr<runtime::Bell>, kGroups> groups_;
  bool waking_ = false;
  bool wake_again_ = false;
  bool beating_ = false;
  runtime::TaskGroup tasks_;
};

}  // namespace wardmote::serve
