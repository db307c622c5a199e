#pragma once

#include <cstdint>
#include <optional>

#include "base/time.h"
#include "judge/judgement.h"

namespace wardmote::judge {

/// A file, or the fact that it does not exist.
struct FileFacts {
  bool exists = false;
  std::uint64_t size = 0;  ///< bytes
  /// time since it was modified, by the wall clock; negative: in the future
  Duration age{};
};

struct FilePolicy {
  bool absent = false;  ///< the file must not exist
  std::optional<Duration> max_age;
  std::optional<std::uint64_t> min_size;
  std::optional<std::uint64_t> max_size;
};

/// Pure.
Judgement judge_file(const FileFacts& facts, const FilePolicy& policy);

}  // namespace wardmote::judge
