#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "observe/kinds.h"
#include "runtime/links.h"
#include "runtime/tls.h"

namespace wardmote::config {

/// One of the two databases of a pair on this node.
struct FailoverDatabase {
  std::string control;
  std::string socket;
  std::string pid;
  std::string file;
  std::string source;  ///< `tcp:10.0.0.1:6641` or `ssl:…`: where the other nodes copy from this one
  friend bool operator==(const FailoverDatabase&, const FailoverDatabase&) = default;
};

/// Programs of the operator (act::failover::PairHooks); argv each, empty: none.
struct FailoverHooks {
  std::vector<std::string> pre_promote;
  std::vector<std::string> on_role_change;
  Duration timeout = std::chrono::seconds(10);
  friend bool operator==(const FailoverHooks&, const FailoverHooks&) = default;
};

/// A pair of databases in active/backup mode, and this node's part in it. This node is one of
/// `members`.
struct Failover {
  std::string name;
  std::vector<std::string> members;
  bool acts = false;
  FailoverDatabase nb;
  FailoverDatabase sb;
  runtime::VirtualAddress address;
  Duration ttl = std::chrono::seconds(6);
  int priority = 0;
  bool nofailover = false;
  std::vector<std::string> fence;  ///< argv; the name of the node is added. Empty: none
  Duration fence_timeout = std::chrono::seconds(10);
  FailoverHooks hooks;
  std::optional<runtime::TlsSettings> tls;  ///< for sources of `ssl:`
  friend bool operator==(const Failover&, const Failover&) = default;
};

/// The kind of the check that stands for a pair, of its name; it finds nothing of this node alone.
const observe::ProbeKind& failover_pair_kind() noexcept;

}  // namespace wardmote::config
