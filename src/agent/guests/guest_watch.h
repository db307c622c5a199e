#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "act/guests/guest_executor.h"
#include "agent/domain.h"
#include "agent/domains.h"
#include "agent/guests/guest.h"
#include "base/result.h"
#include "base/time.h"
#include "config/config.h"
#include "config/guests.h"
#include "judge/guest/facts.h"
#include "judge/guest/restart_view.h"
#include "judge/observation.h"
#include "judge/plan/plan.h"
#include "judge/thing.h"
#include "observe/guests/agent_client.h"
#include "observe/probe.h"
#include "runtime/deadline.h"
#include "runtime/hypervisor.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "runtime/task_group.h"
#include "store/guest_record.h"

namespace wardmote::agent {

/// Watches the guests of one hypervisor: finds them, pings their agents each on its own schedule,
/// and shows what the judge says of them. They come and go without a reload. While the hypervisor
/// does not answer nothing is counted.
class GuestWatch final : public Domain {
 public:
  /// How a hypervisor is reached; kMissing where there is no libvirt.
  using MakeHypervisor = std::function<Result<std::unique_ptr<runtime::Hypervisor>>(
      runtime::Runtime& runtime, const config::Guests& guests)>;

  GuestWatch(const DomainTools& tools, MakeHypervisor make);
  explicit GuestWatch(const DomainTools& tools);
  ~GuestWatch() override;

  runtime::Task<Result<void>> recall() override;
  Result<Adopt> prepare(const config::Config& next) override;
  [[nodiscard]] const observe::ProbeKind& kind() const noexcept override;
  std::unique_ptr<observe::Probe> probe(const config::Check& check) override;
  bool look_for_plan(const judge::ThingId& target) override;
  runtime::Task<void> stop() override;

  /// Whether the hypervisor answers.
  runtime::Task<judge::Observation> look(std::string check, runtime::Deadline deadline);

 private:
  void adopt(const config::Config& now);
  void begin();
  runtime::Task<void> end_hypervisor(std::shared_ptr<runtime::Hypervisor> old);
  runtime::Task<void> follow(std::shared_ptr<runtime::Hypervisor> hypervisor);
  void lose(const Error& why);
  runtime::Task<void> list_again(std::shared_ptr<runtime::Hypervisor> hypervisor);
  void find_all(const std::vector<runtime::GuestEntry>& entries);
  [[nodiscard]] bool is_over(const std::string& uuid) const;
  runtime::Task<void> end(std::shared_ptr<runtime::Hypervisor> hypervisor, std::string uuid);
  runtime::Task<bool> describe(std::shared_ptr<runtime::Hypervisor> hypervisor, std::string uuid);
  runtime::Task<void> take_in(std::shared_ptr<runtime::Hypervisor> hypervisor,
                              runtime::HypervisorEvent event);
  runtime::Task<void> look_at(std::string uuid);
  runtime::Task<judge::guest::Ping> ping(std::string uuid);
  runtime::Task<void> look_inside(std::string uuid);
  runtime::Task<void> prove(std::shared_ptr<runtime::Hypervisor> hypervisor);
  runtime::Task<void> count(std::shared_ptr<runtime::Hypervisor> hypervisor, std::string uuid);
  runtime::Task<void> tell_plans(std::string uuid, TimePoint begun);
  [[nodiscard]] judge::guest::RestartView restart_view(const std::string& uuid,
                                                       TimePoint begun) const;
  [[nodiscard]] const judge::plan::Plan* plan_for(std::string_view uuid) const;
  void tell_of_gone();
  Guest& arrive(const std::string& uuid, const std::string& name);
  void leave(const std::string& uuid);
  void keep_alarms(const Guest& guest);
  void recall_gone(store::GuestRecord record);
  void schedule(Guest& guest);
  void maintain(Guest& guest) const;
  void judge(Guest& guest);
  void write_down(Guest& guest);
  void show_all(std::vector<std::string> gone);

  DomainTools tools_;
  MakeHypervisor make_;
  std::optional<config::Guests> config_;
  std::shared_ptr<runtime::Hypervisor> hypervisor_;
  std::optional<Error> unreachable_;     ///< why the hypervisor does not answer; nothing: it does
  std::map<std::string, Guest> guests_;  ///< by UUID
  std::map<std::string, store::GuestRecord> recalled_;
  /// By UUID, of guests that were ended: how often they were lost lately.
  std::map<std::string, std::vector<TimePoint>> alarms_of_gone_;
  observe::guests::AgentClient agents_;
  std::optional<runtime::TaskGroup::TaskId> following_;
  std::optional<runtime::TaskGroup::TaskId> proving_;
  act::guests::GuestExecutor executor_;
  runtime::TaskGroup tasks_;
};

}  // namespace wardmote::agent
