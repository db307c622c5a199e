#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/time.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "runtime/task_group.h"
#include "store/leadership.h"
#include "store/store.h"

namespace wardmote::store {

inline constexpr std::string_view kBeatKey = "last/beat";

/// The number below kBeatKey; 0: there is none, or it is not ours.
std::uint64_t beat_of(const Found& found);

/// A number in the store that whoever leads raises when it begins and once in `every`, and that
/// everybody reads as often. In one history of the store it never falls. So who finds a lower one
/// than before knows that an older copy is in the place of the store, also where revisions do not
/// show it: where the copy was given higher ones (`etcdutl snapshot restore --bump-revision`), or
/// so much was written since. Life cycle: start(), then stop() before destruction; what it borrows
/// outlives it. Thread: the core loop.
class Beat {
 public:
  /// `leadership`: null: it only reads. It is given up when the number may not be written.
  Beat(runtime::Runtime& runtime, Store& store, Leadership* leadership, Duration every,
       std::string key = std::string(kBeatKey))
      : runtime_(runtime),
        store_(store),
        leadership_(leadership),
        every_(every),
        key_(std::move(key)),
        tasks_(runtime.executor()) {
    if (leadership != nullptr) {
      leadership->listen([this](bool leads) {
        if (leads) tasks_.spawn("first beat", beat_once());
      });
    }
  }

  void start() { tasks_.spawn("beat", run()); }
  runtime::Task<void> stop() { return tasks_.stop(); }

 private:
  runtime::Task<void> run();
  runtime::Task<void> beat_once();
  runtime::Task<Result<void>> beat();

  runtime::Runtime& runtime_;
  Store& store_;
  Leadership* leadership_;
  const Duration every_;
  const std::string key_;
  runtime::TaskGroup tasks_;
};

}  // namespace wardmote::store
