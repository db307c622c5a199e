#pragma once
// What one member of an etcd cluster says: Maintenance.Status, and its own list of members.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "judge/etcd/metrics.h"

namespace wardmote::judge::etcd {

enum class AlarmKind : std::uint8_t { kNospace, kCorrupt, kOther };

/// An alarm stands in the cluster until somebody disarms it, whichever member raised it.
struct Alarm {
  std::uint64_t member = 0;
  AlarmKind kind = AlarmKind::kOther;
  std::string name;  ///< `NOSPACE`
  friend bool operator==(const Alarm&, const Alarm&) = default;
};

struct ListedMember {
  std::uint64_t id = 0;
  std::string name;                    ///< empty: it was added and has not joined yet
  std::vector<std::string> peer_urls;  ///< as etcd sorts them
  bool learner = false;
  friend bool operator==(const ListedMember&, const ListedMember&) = default;
};

struct MemberFacts {
  std::uint64_t cluster_id = 0;
  std::uint64_t member_id = 0;
  std::string name;  ///< in its own list
  std::string version;
  std::uint64_t leader = 0;  ///< 0: it knows none
  std::uint64_t term = 0;
  std::uint64_t index = 0;  ///< the last committed that it knows of
  std::uint64_t applied = 0;
  bool learner = false;
  std::int64_t db_bytes = 0;
  std::int64_t db_bytes_in_use = 0;
  std::optional<std::int64_t> quota_bytes;  ///< etcd 3.6 and later say it
  std::vector<Alarm> alarms;
  std::vector<std::string> errors;  ///< others than alarms
  std::vector<ListedMember> members;
  std::optional<MetricsReport> metrics;  ///< nothing: nobody asks for them
};

/// As etcdctl writes it: 16 hexadecimal digits at most.
std::string id_text(std::uint64_t id);

}  // namespace wardmote::judge::etcd
