#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "base/time.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "runtime/task_group.h"

namespace wardmote::incidents {

/// One alarm that can be set earlier. Life cycle: stop() before destruction. Thread: the core loop.
class WakeUp {
 public:
  WakeUp(runtime::Runtime& runtime, std::string name, std::function<void()> call)
      : runtime_(runtime),
        name_(std::move(name)),
        call_(std::move(call)),
        tasks_(runtime.executor()) {}

  /// Calls then, or before if it is set earlier already. What has passed is called soon.
  void at(TimePoint when) {
    if (set_ && *set_ <= when) return;
    if (set_) tasks_.cancel(task_);
    set_ = when;
    task_ = tasks_.spawn(name_, wait(when));
  }
  runtime::Task<void> stop() { return tasks_.stop(); }

 private:
  runtime::Task<void> wait(TimePoint when) {
    co_await runtime_.sleep_until(when);
    set_.reset();
    call_();
  }

  runtime::Runtime& runtime_;
  std::string name_;
  std::function<void()> call_;
  std::optional<TimePoint> set_;
  runtime::TaskGroup::TaskId task_ = 0;
  runtime::TaskGroup tasks_;
};

}  // namespace wardmote::incidents
