#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "base/result.h"
#include "net/asio_runtime.h"
#include "runtime/task.h"
#include "store/store.h"

namespace wardmote::conformance {

/// A store to be tried, with its server: in real time.
class StoreRig {
 public:
  StoreRig() = default;
  StoreRig(const StoreRig&) = delete;
  StoreRig& operator=(const StoreRig&) = delete;
  virtual ~StoreRig() = default;

  virtual store::Store& store() = 0;
  /// Makes the store forget the events up to its present revision.
  virtual void forget() = 0;

  template <class T>
  T run(runtime::Task<T> task) {
    return net::run_task(runtime_, std::move(task));
  }
  net::AsioRuntime& runtime() noexcept { return runtime_; }
  [[nodiscard]] runtime::Deadline soon() const {
    return runtime_.deadline_in(std::chrono::seconds(20));
  }

 private:
  net::AsioRuntime runtime_;
};

using MakeRig = std::function<std::unique_ptr<StoreRig>()>;

/// The store in a file of its own.
std::unique_ptr<StoreRig> make_embedded_rig();
/// The store in the etcd cluster at `endpoints` (`tcp:HOST:PORT`, with commas between), below a
/// prefix of its own.
std::unique_ptr<StoreRig> make_etcd_rig(const std::string& endpoints);

}  // namespace wardmote::conformance
