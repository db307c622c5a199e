#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "base/time.h"
#include "runtime/deadline.h"
#include "runtime/runtime.h"
#include "runtime/task_group.h"

namespace wardmote::agent {

/// Repeats a round at a fixed rate, and at once when something hints that there is news. Rounds
/// never overlap: one that is due while another runs is left out. Life cycle: start() once; ends
/// with `group`, which it and all it borrows outlive. Thread: the core loop.
class Cadence {
 public:
  using Round = std::function<runtime::Task<void>(runtime::Deadline)>;

  /// Hints do not make rounds begin closer together than this.
  static constexpr Duration kLeastGap = std::chrono::milliseconds(100);

  /// `round` ends by the deadline that it is given, `timeout` after its start. All tasks are
  /// spawned into `group`.
  Cadence(runtime::Runtime& runtime, runtime::TaskGroup& group, std::string name, Duration every,
          Duration timeout, Round round);
  Cadence(const Cadence&) = delete;
  Cadence& operator=(const Cadence&) = delete;
  ~Cadence() = default;

  /// The first round begins at a random part of `every`, so that checks and agents that start
  /// together do not stay together.
  void start();
  /// A round as soon as none is running. Any number of calls while one runs make one more.
  void look_now();

 private:
  runtime::Task<void> tick();
  runtime::Task<void> run_rounds();

  runtime::Runtime& runtime_;
  runtime::TaskGroup& group_;
  std::string name_;
  Duration every_;
  Duration timeout_;
  Round round_;
  bool running_ = false;
  bool again_ = false;
};

}  // namespace wardmote::agent
