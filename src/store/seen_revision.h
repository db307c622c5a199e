#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace wardmote::store {

/// Beginning with 1, each transaction that changes something makes the next revision; no revision
/// is used twice.
using Revision = std::int64_t;

/// The newest revision that answers of a store have shown. Revisions only grow, so an answer that
/// is behind what was known when it was asked for is of another history: the store was emptied, or
/// an older copy was put in its place. Only answers count that no member gives without the others
/// (linearizable). Thread: the core loop.
class SeenRevision {
 public:
  /// What was known when something was asked.
  struct Mark {
    Revision revision = 0;
    std::uint64_t history = 0;
    std::uint64_t beat = 0;
  };

  /// `call` gets what happened, for people. One that is called destroys none of them.
  void when_set_back(std::function<void(const std::string& what)> call) {
    set_back_.push_back(std::move(call));
  }
  [[nodiscard]] Mark mark() const noexcept { return {newest_, history_, beat_}; }
  /// It was shown by something that may be older than another: an event, a member that is behind.
  void see(Revision revision) noexcept { newest_ = std::max(newest_, revision); }
  /// Of all histories: whoever raises the beat raises this one.
  [[nodiscard]] std::uint64_t highest_beat() const noexcept { return highest_beat_; }
  /// `revision` answers what was asked at `asked`. `wrote`: it is that of a change that was made.
  void answered(const Mark& asked, Revision revision, bool wrote);
  /// The same by the number that whoever leads raises (Beat), for copies with higher revisions. In
  /// a history that began anew it is raised beyond all that were known before, or one by one: one
  /// that leaps and stays below them is of another copy.
  void answered_beat(const Mark& asked, std::uint64_t beat);

 private:
  void set_back(const std::string& what);

  Revision newest_ = 0;
  std::uint64_t beat_ = 0;  ///< of this history, as far as it was read
  bool beat_read_ = false;  ///< in this history
  std::uint64_t highest_beat_ = 0;
  std::uint64_t history_ = 0;  ///< counts the times that it was set back
  std::vector<std::function<void(const std::string& what)>> set_back_;
};

}  // namespace wardmote::store
