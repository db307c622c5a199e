#pragma once

#include <optional>
#include <string>

#include "runtime/bell.h"
#include "runtime/http.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::agent {

/// Holds the answer to an order until it is known how its writing went; 503 in its stead when it
/// was not written. Thread: the core loop.
class Written final : public runtime::HttpHold {
 public:
  explicit Written(const runtime::Executor& executor) : bell_(executor) {}

  runtime::Task<std::optional<runtime::HttpResponse>> wait() override;
  /// `complaint`: why it was not written.
  void open(std::optional<std::string> complaint);

 private:
  runtime::Bell bell_;
  bool done_ = false;
  std::optional<std::string> complaint_;
};

}  // namespace wardmote::agent
