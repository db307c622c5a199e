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
#include "runtime/event.h"
#include "runtime/http.h"
#include "runtime/runtime.h"
#include "runtime/task_group.h"
#include "serve/change_text.h"

namespace wardmote::serve {

/// The last changes as server-sent events (HTML Living Standard 9.2), for up to kReaders readers. A
/// reader costs a cursor: all share the kept events. A reader so slow that it loses events is
/// disconnected, and gets `reset` when it resumes. Life cycle: stop() before destruction, after the
/// server that has its readers; destroyed after them. Thread: the core loop.
class EventStream {
 public:
  static constexpr std::size_t kReaders = 2048;
  /// How much is kept for readers that resume.
  static constexpr std::size_t kEvents = 65536;
  static constexpr std::size_t kBytes = std::size_t{8} << 20;
  /// A reader without events gets a comment at least this often, so that both sides notice a dead
  /// connection.
  static constexpr Duration kHeartbeat = std::chrono::seconds(20);

  explicit EventStream(runtime::Runtime& runtime);
  EventStream(const EventStream&) = delete;
  EventStream& operator=(const EventStream&) = delete;
  ~EventStream();

  /// Changes must come in their order.
  void publish(const judge::Change& change, const ChangeText& text);

  /// Follows the events after `last_id`, or from now on when it is empty. Begins with the event
  /// `hello`, or with `reset` when events after `last_id` are not known here (any more). Null when
  /// there are too many readers.
  std::shared_ptr<runtime::HttpStream> follow(std::string_view last_id);

  /// The id of the last event, also before the first: a caller that reads the state now and then
  /// follows from here misses nothing. Ids of another run of the agent are recognised as such.
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
  /// Where to continue, or nothing when `last_id` is unknown.
  [[nodiscard]] std::optional<std::uint64_t> position(std::string_view last_id) const;
  [[nodiscard]] bool kept(std::uint64_t sequence) const noexcept { return sequence >= first_; }
  /// The events from `sequence` on, as many as are sent at once. Readers at the same position share
  /// the text.
  const Chunk& chunk(std::uint64_t sequence);
  void wake();
  runtime::Task<void> wake_groups();
  runtime::Task<void> beat();

  runtime::Runtime* runtime_;
  std::string run_;        ///< distinguishes the ids of this run of the agent from others
  std::deque<Kept> kept_;  ///< from first_ on
  std::size_t kept_bytes_ = 0;
  std::uint64_t first_ = 1;
  std::uint64_t next_ = 1;  ///< of the next change
  Chunk chunk_;
  std::size_t readers_ = 0;
  std::size_t seated_ = 0;  ///< readers since the start; selects the group
  /// Readers wait in groups that are woken one after the other, so that a change for a thousand
  /// readers does not delay the loop.
  std::array<std::unique_ptr<runtime::Event>, kGroups> groups_;
  bool waking_ = false;
  bool wake_again_ = false;
  bool beating_ = false;
  runtime::TaskGroup tasks_;
};

}  // namespace wardmote::serve
