#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "runtime/database.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::store {

/// Changes to records that belong together, by key: a text to write, or nothing to remove the
/// record.
using RecordChanges = std::map<std::string, std::optional<std::string>>;

/// The same as SQL, for a caller that writes more than records in one transaction.
std::vector<runtime::SqlStatement> record_statements(RecordChanges changes);

/// The present state that survives the agent: texts by key, `incident/17`. Thread: the core loop.
/// Errors are those of runtime::Database.
class Records {
 public:
  Records(runtime::Runtime& runtime, runtime::Database& database)
      : runtime_(runtime), database_(database) {}

  /// Call this first.
  runtime::Task<Result<void>> open();
  /// All records, or those whose key begins with `prefix`.
  runtime::Task<Result<std::map<std::string, std::string>>> load(std::string prefix);
  /// Writes all of the changes, or none when it fails.
  runtime::Task<Result<void>> commit(RecordChanges changes);

 private:
  runtime::Runtime& runtime_;
  runtime::Database& database_;
};

}  // namespace wardmote::store
