#include "observe/ovn/northd_probe.h"

#include <array>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/result.h"
#include "codec/ovn_daemons.h"
#include "judge/judgement.h"
#include "judge/observation.h"
#include "judge/service/ovn_daemons.h"
#include "observe/kinds.h"
#include "observe/ovn/daemon_control.h"
#include "observe/params.h"
#include "observe/probe.h"
#include "runtime/deadline.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::observe::ovn {
namespace {

constexpr auto kParams = std::to_array<ParamSpec>({
    {"control", ParamType::kEndpoint, false,
     "pid file or control socket of ovn-northd (default: /run/ovn/ovn-northd.pid)"},
    {"active", ParamType::kFlag, false, "fail unless it is the active one"},
});

judge::NorthdState to_state(const std::string& word) {
  if (word == "active") return judge::NorthdState::kActive;
  if (word == "standby") return judge::NorthdState::kStandby;
  return judge::NorthdState::kPaused;
}

}  // namespace

runtime::Task<Result<std::optional<bool>>> NorthdProbe::connected(std::string command,
                                                                  runtime::Deadline deadline) {
  const Result<std::string> text = co_await control_.ask(std::move(command), deadline);
  // Versions before 20.06 have no such command.
  if (!text && text.error().code == Errc::kRejected) co_return std::optional<bool>();
  if (!text) co_return std::unexpected(text.error());
  const Result<bool> said = codec::parse_connection_status(*text);
  if (!said) co_return std::unexpected(said.error());
  co_return std::optional<bool>(*said);
}

runtime::Task<Result<judge::NorthdFacts>> NorthdProbe::ask(runtime::Deadline deadline) {
  const Result<void> found = control_.find();
  if (!found) co_return std::unexpected(found.error());
  judge::NorthdFacts facts;
  const Result<std::string> status = co_await control_.ask("status", deadline);
  if (!status) co_return std::unexpected(status.error());
  const Result<std::string> word = codec::parse_northd_status(*status);
  if (!word) co_return std::unexpected(word.error());
  facts.state = to_state(*word);
  const auto northbound = co_await connected("nb-connection-status", deadline);
  if (!northbound) co_return std::unexpected(northbound.error());
  facts.northbound = *northbound;
  const auto southbound = co_await connected("sb-connection-status", deadline);
  if (!southbound) co_return std::unexpected(southbound.error());
  facts.southbound = *southbound;
  co_return facts;
}

runtime::Task<judge::Observation> NorthdProbe::look(runtime::Deadline deadline) {
  judge::Observation observation;
  observation.subject = subject_;
  observation.begun = runtime_.now();
  const Result<judge::NorthdFacts> facts = co_await ask(deadline);
  observation.cost = control_.cost();
  if (!facts) co_return no_answer(std::move(observation), facts.error(), runtime_.now());
  observation.ended = runtime_.now();
  judge::Judgement judgement = judge_northd(*facts, policy_);
  observation.outcome = judgement.outcome;
  observation.reason = std::move(judgement.reason);
  co_return observation;
}

std::span<const ParamSpec> northd_params() noexcept {
  return kParams;
}

Result<std::unique_ptr<Probe>> make_northd_probe(runtime::Runtime& runtime, std::string subject,
                                                 const Params& params) {
  Result<std::string> control = control_path(params, "/run/ovn/ovn-northd.pid");
  if (!control) return std::unexpected(control.error());
  const judge::NorthdPolicy policy{.active = param<bool>(params, "active").value_or(false)};
  return std::make_unique<NorthdProbe>(runtime, std::move(subject), *std::move(control), policy);
}

}  // namespace wardmote::observe::ovn
