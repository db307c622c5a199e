#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "observe/kinds.h"
#include "observe/ovn/member.h"
#include "observe/probe.h"

namespace wardmote::observe::ovn {

/// One member of an OVN raft database, as a check of its own.
class OvnProbe final : public Probe {
 public:
  OvnProbe(runtime::Runtime& runtime, MemberTarget target) : member_(runtime, std::move(target)) {}

  runtime::Task<judge::Observation> look(runtime::Deadline deadline) override;

  [[nodiscard]] const MemberTarget& target() const noexcept { return member_.target(); }

 private:
  Member member_;
};

/// What an opinion says about its own member, before it is compared with others. fail: the member
/// hangs, refuses, is missing or unreachable; it failed or left; it is not in touch with its
/// cluster; the database is missing or not clustered. warn: it joins, leaves or stands for
/// election; or one of the two ways fails. unknown: we may not ask, or what arrived is not an
/// answer.
struct Meaning {
  judge::Outcome outcome = judge::Outcome::kUnknown;
  judge::Reason reason;
};
Meaning meaning_of(const judge::raft::Opinion& opinion);

/// Parameters of the kind `ovn` (observe/kinds.h).
std::span<const ParamSpec> ovn_params() noexcept;
Result<std::unique_ptr<Probe>> make_ovn_probe(runtime::Runtime& runtime, std::string subject,
                                              const Params& params);

}  // namespace wardmote::observe::ovn
