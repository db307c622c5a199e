#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "judge/version_gate/leader.h"
#include "judge/version_gate/membership.h"
#include "judge/version_gate/release.h"
#include "judge/version_gate/status.h"

namespace wardmote::version_gate {

using judge::version_gate::Member;
using judge::version_gate::MemberChange;
using judge::version_gate::Release;
using judge::version_gate::Revision;
using judge::version_gate::Stored;
using judge::version_gate::Write;

/// Milliseconds since the world began.
using Millis = long;

constexpr Millis kLease = 6000;

std::string name_of(int node);

/// A store as etcd is one, as far as a gate uses it: revisions, a queue of keys with leases, and
/// transactions.
class StoreModel {
 public:
  struct Registration {
    std::optional<Release> release;
    Revision changed = 0;
    Millis since = 0;  ///< when this release was registered
  };
  struct Candidate {
    int node = 0;
    Revision token = 0;  ///< the revision that created its key
    Millis expires = 0;
  };
  /// What one look of a watch brings.
  struct News {
    std::vector<MemberChange> changes;
    Revision header = 0;
    std::optional<std::vector<Member>> all;  ///< the history was compacted: everything anew
    std::size_t upto = 0;                    ///< the position in the log behind it
  };

  void put_registration(int node, std::optional<Release> release, Millis now);
  void remove_registration(int node);
  void put_corrupt_status();
  void remove_status();

  Revision campaign(int node, Millis now);
  bool renew(Revision token, Millis now);
  bool remove_candidate(Revision token, Millis now);
  void expire(Millis now);
  /// The token of the leader; 0: nobody leads.
  [[nodiscard]] Revision newest() const;
  [[nodiscard]] bool has(Revision token) const;
  /// When this token stopped being the newest; nothing: it is, or never was.
  [[nodiscard]] std::optional<Millis> ended(Revision token) const;

  /// True: the conditions held, and it is done.
  bool commit(Revision token, const Write& write, Millis now);
  [[nodiscard]] News news(std::size_t from, std::size_t most) const;
  [[nodiscard]] News list() const;

  [[nodiscard]] Revision revision() const noexcept { return revision_; }
  [[nodiscard]] const Stored& status() const noexcept { return status_; }
  [[nodiscard]] Revision claimed() const noexcept { return claimed_; }
  [[nodiscard]] const std::map<int, Registration>& registrations() const noexcept { return nodes_; }
  [[nodiscard]] const std::vector<Candidate>& queue() const noexcept { return queue_; }
  [[nodiscard]] int quarantined() const noexcept { return quarantined_; }

 private:
  void note_front(Millis now);

  Revision revision_ = 1;
  std::map<int, Registration> nodes_;
  std::vector<MemberChange> log_;
  Stored status_;
  Revision claimed_ = 0;
  std::vector<Candidate> queue_;
  Revision front_ = 0;
  std::map<Revision, Millis> ended_;
  int quarantined_ = 0;
};

}  // namespace wardmote::version_gate
