#include "observe/ovn/controller_probe.h"

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
#include "observe/ovn/ovsdb_client.h"
#include "observe/params.h"
#include "observe/probe.h"
#include "observe/tls_params.h"
#include "runtime/deadline.h"
#include "runtime/endpoint.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::observe::ovn {
namespace {

constexpr auto kParams = std::to_array<ParamSpec>({
    {"control", ParamType::kEndpoint, false,
     "pid file or control socket of ovn-controller (default: /run/ovn/ovn-controller.pid)"},
    {"southbound", ParamType::kEndpoint, false,
     "OVSDB address of a server of the southbound database, to tell a database that is down from "
     "one that this host does not follow: tcp:10.0.0.1:6642, ssl:10.0.0.1:6642"},
    kTlsCa,
    kTlsCertificate,
    kTlsKey,
});

}  // namespace

ControllerProbe::ControllerProbe(runtime::Runtime& runtime, std::string subject,
                                 std::string control, std::optional<runtime::Endpoint> southbound)
    : runtime_(runtime), subject_(std::move(subject)), control_(runtime, std::move(control)) {
  if (southbound)
    southbound_ = std::make_unique<OvsdbClient>(runtime_, *std::move(southbound), "OVN_Southbound");
}

runtime::Task<judge::SouthboundFacts> ControllerProbe::ask_database(runtime::Deadline deadline) {
  co_await southbound_->ask(deadline);
  const RowAnswer answer = co_await southbound_->answer(deadline);
  judge::SouthboundFacts facts;
  if (answer.row) {
    facts.serves = answer.row->connected;
    facts.index = answer.row->index;
  }
  co_return facts;
}

runtime::Task<Result<judge::ControllerFacts>> ControllerProbe::ask(runtime::Deadline deadline) {
  const Result<void> found = control_.find();
  if (!found) co_return std::unexpected(found.error());
  judge::ControllerFacts facts;
  const Result<std::string> status = co_await control_.ask("connection-status", deadline);
  if (!status) co_return std::unexpected(status.error());
  const Result<bool> connected = codec::parse_connection_status(*status);
  if (!connected) co_return std::unexpected(connected.error());
  facts.connected = *connected;
  const Result<std::string> engine = co_await control_.ask("debug/status", deadline);
  // Versions before 20.03 have no such command.
  if (!engine && engine.error().code != Errc::kRejected) co_return std::unexpected(engine.error());
  if (engine) {
    const Result<bool> paused = codec::parse_debug_status(*engine);
    if (!paused) co_return std::unexpected(paused.error());
    facts.paused = *paused;
  }
  // Asked only when it matters: a thousand hosts need not ask the database once a second.
  if (!facts.connected && southbound_) {
    const judge::SouthboundFacts database = co_await ask_database(deadline);
    facts.southbound = database;
  }
  co_return facts;
}

runtime::Task<judge::Observation> ControllerProbe::look(runtime::Deadline deadline) {
  judge::Observation observation;
  observation.subject = subject_;
  observation.begun = runtime_.now();
  Result<judge::ControllerFacts> facts = co_await ask(deadline);
  observation.cost = control_.cost();
  if (!facts) co_return no_answer(std::move(observation), facts.error(), runtime_.now());
  observation.ended = runtime_.now();
  facts->losses = losses_.feed(facts->connected, observation.ended);
  judge::Judgement judgement = judge_controller(*facts);
  observation.outcome = judgement.outcome;
  observation.reason = std::move(judgement.reason);
  co_return observation;
}

std::span<const ParamSpec> controller_params() noexcept {
  return kParams;
}

Result<std::unique_ptr<Probe>> make_controller_probe(runtime::Runtime& runtime, std::string subject,
                                                     const Params& params) {
  Result<std::string> control = control_path(params, "/run/ovn/ovn-controller.pid");
  if (!control) return std::unexpected(control.error());
  std::optional<runtime::Endpoint> southbound;
  if (params.contains("southbound")) {
    Result<runtime::Endpoint> at =
        runtime::parse_endpoint(*param<std::string>(params, "southbound"));
    if (!at) return with_context(at, "southbound");
    at = with_ovsdb_tls(*std::move(at), params);
    if (!at) return with_context(at, "southbound");
    southbound = *std::move(at);
  } else if (params.contains("tls_ca") || params.contains("tls_certificate") ||
             params.contains("tls_key")) {
    return fail(Errc::kInvalid, "tls_ca and its like are for southbound, which is not given");
  }
  return std::make_unique<ControllerProbe>(runtime, std::move(subject), *std::move(control),
                                           std::move(southbound));
}

}  // namespace wardmote::observe::ovn
