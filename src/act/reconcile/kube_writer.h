#pragma once

#include <boost/json/object.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "act/reconcile/kube_client.h"
#include "base/result.h"
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
    kNoVersion,  ///< of an apply with kAbsentVersion: the kind takes none. Nothing was created
    kMissing,    ///< it, or its namespace, is not there
    kUnserved,   ///< nor is its kind, in this version: nobody knows whether it is there
    kFenced,     ///< a later leader has raised the fence
    kRefused,    ///< `why`
    kNoAnswer,   ///< nobody knows whether it was done
  };
  Kind kind = Kind::kDone;
  /// kDone: as the server has it now. Of a removal: empty, or what holds on to it goes first.
  boost::json::object object{};
  std::string why{};    ///< for people, escaped; without values
  std::string words{};  ///< the server's own, where they may quote values; escaped
};

/// No object has this version: the first ones of a store have a higher one. An apply with it
/// creates the object, or is refused because it is there (kStale). Services know no such apply
/// before Kubernetes 1.21 (kNoVersion).
inline constexpr std::string_view kAbsentVersion = "1";

/// Server-side apply of one object, under one field manager.
struct ApplyOrder {
  std::string path;
  std::string manager;
  boost::json::object body;
  /// It is refused if the object has another; empty: not compared. kAbsentVersion: if there is one.
  std::string resource_version;
  bool force = false;   ///< takes fields over from other managers
  bool dry = false;     ///< nothing is stored
  bool secret = false;  ///< the server's words about it are repeated to nobody
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
  /// `announce` as PassTerms has it.
  KubeWriter(KubeClient& client, std::function<runtime::Task<Result<void>>()> announce)
      : client_(client), announce_(std::move(announce)) {}

  runtime::Task<Written> apply(ApplyOrder order, runtime::Deadline deadline);
  runtime::Task<Written> remove(DeleteOrder order, runtime::Deadline deadline);

  /// How many requests could have changed something.
  [[nodiscard]] std::size_t writes() const noexcept { return writes_; }

 private:
  /// Before something is written. An error: it must not be.
  runtime::Task<Result<void>> begin();

  KubeClient& client_;
  std::function<runtime::Task<Result<void>>()> announce_;  ///< empty: it was announced
  std::size_t writes_ = 0;
};

}  // namespace wardmote::act::reconcile
