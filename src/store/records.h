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

/// Changes to records that belong together, by key: a text, or nothing to remove it.
using RecordChanges = std::map<std::string, std::optional<std::string>>;

/// The same as SQL, for who writes more than records in one transaction.
std::vector<runtime::SqlStatement> record_statements(RecordChanges changes);

/// What must outlive the agent as it stands now: texts by key, `incident/17`. Thread: the core
/// loop. Errors are those of runtime::Database.
class Records {
 public:
  Records(runtime::Runtime& runtime, runtime::Database& database)
      : runtime_(runtime), database_(database) {}

  /// Before anything else.
  runtime::Task<Result<void>> open();
  /// All records, or those whose key begins with `prefix`.
  runtime::Task<Result<std::map<std::string, std::string>>> load(std::string prefix);
  /// All of the changes or, when it fails, none.
  runtime::Task<Result<void>> commit(RecordChanges changes);

 private:
  runtime::Runtime& runtime_;
  runtime::Database& database_;
};

}  // namespace wardmote::store
