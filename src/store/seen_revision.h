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
  };

  /// `call` gets what happened, for people. One that is called destroys none of them.
  void when_set_back(std::function<void(const std::string& what)> call) {
    set_back_.push_back(std::move(call));
  }
  [[nodiscard]] Mark mark() const noexcept { return {newest_, history_}; }
  /// It was shown by something that may be older than another: an event, a member that is behind.
  void see(Revision revision) noexcept { newest_ = std::max(newest_, revision); }
  /// `revision` answers what was asked at `asked`. `wrote`: it is that of a change that was made.
  void answered(const Mark& asked, Revision revision, bool wrote);

 private:
  Revision newest_ = 0;
  std::uint64_t history_ = 0;  ///< counts the times that it was set back
  std::vector<std::function<void(const std::string& what)>> set_back_;
};

}  // namespace wardmote::store
