#include "runtime/database.h"

#include <expected>
#include <utility>
#include <vector>

#include "base/result.h"
#include "runtime/deadline.h"
#include "runtime/task.h"

namespace wardmote::runtime {

Task<Result<void>> Database::commit(std::vector<SqlStatement> statements, Deadline deadline) {
  const auto done = co_await transact(std::move(statements), deadline);
  if (!done) co_return std::unexpected(done.error());
  co_return Result<void>();
}

}  // namespace wardmote::runtime
