#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/result.h"

namespace wardmote::net {

/// A mark in a folder that says: something was not written down. A full disk takes no record, but a
/// file can still be renamed there; so the mark is the name of an empty file, which is made
/// beforehand. Thread: any.
class OwedMark {
 public:
  /// Makes the file if needed. kExhausted: the disk is full, and there is none.
  static Result<OwedMark> open(const std::string& folder);
  /// Whether an earlier process left the mark set.
  [[nodiscard]] bool was_set() const noexcept { return was_set_; }
  /// Whether an earlier process has used the folder.
  [[nodiscard]] bool was_there() const noexcept { return was_there_; }
  /// It holds when the process ends; a machine that loses its power soon after may lose it.
  Result<void> set(bool owed);

 private:
  OwedMark(std::string folder, bool was_set, bool was_there)
      : folder_(std::move(folder)), was_set_(was_set), was_there_(was_there) {}

  std::string folder_;
  bool was_set_ = false;
  bool was_there_ = false;
};

/// Sets the mark from a thread of its own, because a disk that does not answer stops whoever asks
/// it. Life cycle: its destructor waits until the last wish is fulfilled. Thread: the core loop.
class MarkWriter {
 public:
  explicit MarkWriter(OwedMark mark);
  MarkWriter(const MarkWriter&) = delete;
  MarkWriter& operator=(const MarkWriter&) = delete;
  ~MarkWriter();

  [[nodiscard]] bool was_set() const noexcept { return mark_.was_set(); }
  /// A failure is logged.
  void set(bool owed);

 private:
  void work();

  OwedMark mark_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<bool> wanted_;
  bool over_ = false;
  std::jthread thread_;
};

}  // namespace wardmote::net
