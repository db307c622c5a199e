#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "codec/domain_xml.h"
#include "config/guests.h"
#include "judge/condition/condition_tracker.h"
#include "judge/guest/agent_hold.h"
#include "judge/guest/assess.h"
#include "judge/guest/facts.h"
#include "judge/guest/inside.h"
#include "judge/guest/machine.h"
#include "observe/guests/lifecycle.h"
#include "runtime/hypervisor.h"
#include "serve/guest/guest_view.h"
#include "store/guest_record.h"

namespace wardmote::agent {

using enum observe::guests::LifecycleEvent;

/// One guest of the hypervisor, and what is known of it.
struct Guest {
  Guest(judge::guest::Names called, const judge::guest::Policy& policy, TimePoint now)
      : names(std::move(called)), machine(policy, now) {}

  judge::guest::Names names;
  std::string flavor;
  std::string project;
  bool nova = false;                    ///< Nova wrote its description
  std::vector<std::string> complaints;  ///< of its own policy
  judge::guest::Machine machine;
  judge::guest::InsideWatch inside;
  judge::ConditionTracker memory;
  int process = -1;                   ///< libvirt's id of it
  bool there = false;                 ///< the hypervisor has it, as far as is known
  std::uint64_t epoch = 0;            ///< changes with every event: what was asked before it is old
  std::optional<Duration> cpu;        ///< when it was counted last, while it is silent
  std::optional<TimePoint> cpu_grew;  ///< when a count showed last that its QEMU runs
  std::optional<Duration> ping;       ///< how long its last answer took
  Duration scheduled{};               ///< how often it is looked at
  TimePoint asked;  ///< when its last ping was handed to libvirt, or found the one before there
  judge::guest::AgentHold hold;
  /// A plan wants to know how it is, since then.
  std::optional<TimePoint> plan_asked;
  std::optional<store::GuestRecord> written;
  std::shared_ptr<const serve::GuestView> shown;

  /// What its description says; `all` is the policy for all guests.
  void describe(const codec::DomainXml& xml, const config::Guests& all, TimePoint now);
  /// What the hypervisor's list says.
  void found(const runtime::GuestEntry& entry, TimePoint now);
  /// How it is that does not run any more, of which nobody told.
  void ended(const runtime::GuestStanding& standing, TimePoint now);
  /// An event of it. Returns whether its description is to be read again.
  bool hear(const runtime::HypervisorEvent& event);
  /// Whether somebody works on it at that time, or on its host.
  void maintain(bool host, WallTime now) noexcept;
  [[nodiscard]] store::GuestRecord record() const;
  /// As it is now; `memory` takes part in it.
  std::shared_ptr<serve::GuestView> view(TimePoint now);
};

/// The name of its looks.
inline std::string look_of(const std::string& uuid) {
  return "guest:" + uuid;
}

}  // namespace wardmote::agent
