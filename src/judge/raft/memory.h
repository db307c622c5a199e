#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "judge/raft/docket.h"
#include "judge/raft/history.h"
#include "judge/raft/member_id.h"

namespace wardmote::judge::raft {

struct Picture;

/// Who a configured member was when it last spoke as a member of the cluster.
struct Identity {
  std::string member;
  MemberId id;
  std::string address;
  /// When the first look ended at which it did not answer, while it does not. What was heard of it
  /// before proves no life.
  std::optional<TimePoint> silent_from;
};

/// A server of the newest member list, with as much of its id as was ever known.
struct Listed {
  MemberId id;
  std::string nickname;
  std::string address;
  bool voter = true;
};

/// What must be remembered between two looks at one cluster: since when conditions stand, who was
/// who, which members the cluster had. Grows with the configured members and the listed servers
/// only; what is no longer seen is forgotten. A value: a copy judges on its own.
class Memory {
 public:
  [[nodiscard]] const Identity* identity(std::string_view member) const noexcept;
  [[nodiscard]] const std::vector<Listed>& list() const noexcept { return list_; }
  [[nodiscard]] const MemberId& cluster_id() const noexcept { return cluster_id_; }
  [[nodiscard]] std::optional<std::chrono::milliseconds> election_timer() const noexcept {
    return election_timer_;
  }
  [[nodiscard]] Docket& docket() noexcept { return docket_; }
  [[nodiscard]] History& history() noexcept { return history_; }
  [[nodiscard]] const History& history() const noexcept { return history_; }
  /// Entries of all kinds, for tests of the bound.
  [[nodiscard]] std::size_t size() const noexcept {
    return identities_.size() + list_.size() + docket_.size() + history_.size();
  }

  /// Takes over what this look taught. The picture may point into this memory; it is not used
  /// after.
  void learn(const Picture& picture);

 private:
  void learn_identities(const Picture& picture);
  void learn_list(const Picture& picture);

  std::vector<Identity> identities_;  // by member name
  std::vector<Listed> list_;
  MemberId cluster_id_;
  std::optional<std::chrono::milliseconds> election_timer_;
  Docket docket_;
  History history_;
};

}  // namespace wardmote::judge::raft
