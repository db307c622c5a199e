#include "agent/written.h"

#include <optional>
#include <string>
#include <utility>

#include "runtime/http.h"
#include "runtime/task.h"
#include "serve/answer.h"

namespace wardmote::agent {

runtime::Task<std::optional<runtime::HttpResponse>> Written::wait() {
  while (!done_) co_await bell_.wait();
  if (!complaint_) co_return std::nullopt;
  co_return serve::error_answer(
      503, "the order holds, but it is not written down and ends with the agent: " + *complaint_);
}

void Written::open(std::optional<std::string> complaint) {
  done_ = true;
  complaint_ = std::move(complaint);
  bell_.ring();
}

}  // namespace wardmote::agent
