#pragma once

#include <boost/json/object.hpp>
#include <cstddef>
#include <cstdint>
#include <string>

#include "act/reconcile/kube_client.h"
#include "runtime/deadline.h"
#include "runtime/task.h"

namespace wardmote::act::reconcile {

/// What came of a write.
struct Written {
  enum class Kind : std::uint8_t {
    kDone,
    kConflict,   ///< other field managers own fields of it: `why` names both
    kStale,      ///< the object changed since it was read
    kImmutable,  ///< a field cannot be changed in place
    kMissing,    ///< it, or its namespace, is not there
    kRefused,    ///< `why`
    kNoAnswer,   ///< nobody knows whether it was done
  };
  Kind kind = Kind::kDone;
  boost::json::object object{};  ///< kDone, of an apply: as the server has it now
  std::string why{};             ///< for people, escaped
};

/// Server-side apply of one object, under one field manager.
struct ApplyOrder {
  std::string path;
  std::string manager;
  boost::json::object body;
  std::string resource_version;  ///< it is refused if the object has another; empty: not compared
  bool force = false;            ///< takes fields over from other managers
  bool dry = false;              ///< nothing is stored
};

/// One object, only if it is still the one that was read.
struct DeleteOrder {
  std::string path;
  std::string uid;
  std::string resource_version;
};

/// Turns orders into requests, and answers into what they mean. Thread: the core loop.
class KubeWriter {
 public:
  explicit KubeWriter(KubeClient& client) : client_(client) {}

  runtime::Task<Written> apply(ApplyOrder order, runtime::Deadline deadline);
  runtime::Task<Written> remove(DeleteOrder order, runtime::Deadline deadline);

  /// How many requests could have changed something.
  [[nodiscard]] std::size_t writes() const noexcept { return writes_; }

 private:
  KubeClient& client_;
  std::size_t writes_ = 0;
};

}  // namespace wardmote::act::reconcile
