#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "config/config.h"
#include "incidents/record_writer.h"
#include "judge/change.h"
#include "runtime/task.h"

namespace wardmote::incidents {

/// Which optional checks were ever good, across lives of the agent: these count. A check that is
/// not optional counts anyway, and needs no record. Writes when a check is good for the first time,
/// and when it becomes blind or sees again. Life cycle: what it borrows outlives it. Thread: the
/// core loop.
class SeenGood {
 public:
  /// `node`: as the agent calls itself.
  SeenGood(const config::Config& config, RecordWriter& records, const std::string& node);

  /// Reads what earlier lives wrote, and forgets what is not optional any more.
  runtime::Task<Result<void>> recall();
  /// After recall(): the checks, and whether each was blind when the last life ended.
  [[nodiscard]] const std::map<std::string, bool, std::less<>>& checks() const noexcept {
    return blind_;
  }

  void hear(const judge::Change& change);
  /// The check is gone, or another thing has its name.
  void forget(std::string_view check);

 private:
  [[nodiscard]] bool is_optional(std::string_view check) const;
  void keep(const std::string& check, bool blind);

  const config::Config& config_;
  RecordWriter& records_;
  const std::string prefix_;
  std::map<std::string, bool, std::less<>> blind_;  // by check
};

}  // namespace wardmote::incidents
