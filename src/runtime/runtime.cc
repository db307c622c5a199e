#include "runtime/runtime.h"

#include <expected>
#include <memory>
#include <utility>

#include "base/result.h"
#include "runtime/deadline.h"
#include "runtime/endpoint.h"
#include "runtime/stream.h"
#include "runtime/task.h"

namespace wardmote::runtime {

Task<Result<void>> Runtime::knock(Endpoint to, Deadline deadline) {
  const Result<std::unique_ptr<Stream>> stream = co_await connect(std::move(to), deadline);
  if (!stream) co_return std::unexpected(stream.error());
  co_return Result<void>();
}

}  // namespace wardmote::runtime
