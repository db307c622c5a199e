#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/database.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::store {

/// Moves the records whose keys begin with one of `prefixes` into the store in the same database;
/// an earlier version kept them outside the store. Moves all of them, or none when it fails.
/// Returns their number. Call it after open() of Records and EmbeddedStore; both arguments outlive
/// it.
runtime::Task<Result<std::size_t>> adopt_records(runtime::Runtime* runtime,
                                                 runtime::Database* database,
                                                 std::vector<std::string> prefixes);

}  // namespace wardmote::store
