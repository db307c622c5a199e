#include "observe/ovn/ovn_probe.h"

#include <array>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "judge/observation.h"
#include "judge/outcome.h"
#include "judge/raft/opinion.h"
#include "observe/kinds.h"
#include "observe/ovn/member.h"
#include "observe/probe.h"
#include "observe/reason.h"
#include "observe/tls_params.h"
#include "runtime/deadline.h"
#include "runtime/endpoint.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::observe::ovn {

using judge::Observation;
using judge::Outcome;
using judge::Reason;
using judge::ReasonCode;
using judge::raft::Mode;
using judge::raft::Opinion;
using judge::raft::Role;
using judge::raft::Standing;

namespace {

constexpr auto kParams = std::to_array<ParamSpec>({
    {"control", ParamType::kEndpoint, false,
     "control socket of the ovsdb-server, for example /run/ovn/ovnnb_db.ctl"},
    {"ovsdb", ParamType::kEndpoint, false,
     "OVSDB socket or port of the server: unix:/run/ovn/ovnnb_db.sock, tcp:10.0.0.2:6641, "
     "ssl:10.0.0.2:6641"},
    {"database", ParamType::kText, false,
     "OVN_Northbound, OVN_Southbound, OVN_IC_Northbound, OVN_IC_Southbound or another (default: by "
     "the name of the socket, else OVN_Northbound)"},
    {"control_command", ParamType::kList, false,
     "instead of control: a command that ends in `ovn-appctl -t SOCKET`, for example over ssh"},
    {"ovsdb_command", ParamType::kList, false,
     "instead of ovsdb: a command that ends in `ovsdb-client query SERVER`"},
    kTlsCa,
    kTlsCertificate,
    kTlsKey,
});

struct DefaultDatabase {
  std::string_view socket;  ///< how the names of its sockets begin
  std::string_view database;
};

/// The names that OVN's own scripts give the sockets (ovn-ctl).
constexpr auto kDefaultDatabases = std::to_array<DefaultDatabase>({
    {"ovnnb_db", "OVN_Northbound"},
    {"ovnsb_db", "OVN_Southbound"},
    {"ovn_ic_nb_db", "OVN_IC_Northbound"},
    {"ovn_ic_sb_db", "OVN_IC_Southbound"},
});

std::string_view default_database(const MemberTarget& target) noexcept {
  for (const auto* socket : {&target.control, &target.ovsdb}) {
    if (!*socket || (*socket)->kind != runtime::Endpoint::Kind::kUnix) continue;
    const std::string_view path = (*socket)->path;
    const std::string_view name = path.substr(path.rfind('/') + 1);
    for (const DefaultDatabase& row : kDefaultDatabases) {
      if (name.starts_with(row.socket)) return row.database;
    }
  }
  return "OVN_Northbound";
}

std::vector<std::string> list_param(const Params& params, std::string_view name) {
  const auto found = params.find(name);
  return found == params.end() ? std::vector<std::string>()
                               : std::get<std::vector<std::string>>(found->second);
}

/// A member without an answer: positive evidence on either way counts more than a way that only
/// could not be asked.
Meaning meaning_of_silence(const Opinion& opinion) {
  const Reason& status = opinion.status_source.reason;
  const Reason& local = opinion.local_source.reason;
  for (const Reason* reason : {&status, &local}) {
    if (outcome_of(reason->code) == Outcome::kFail) return {Outcome::kFail, *reason};
  }
  return {Outcome::kUnknown, status.code == ReasonCode::kNotProbed ? local : status};
}

Meaning bad(Outcome outcome, std::string_view words) {
  return {outcome, {ReasonCode::kState, std::string(words)}};
}

Meaning meaning_of_standing(const judge::raft::Status& status) {
  switch (status.standing) {
    case Standing::kFailed:
    case Standing::kLeft:
    case Standing::kDisconnected: return bad(Outcome::kFail, to_string(status.standing));
    case Standing::kJoining:
    case Standing::kLeaving: return bad(Outcome::kWarn, to_string(status.standing));
    case Standing::kUnknown: return bad(Outcome::kUnknown, "its Status is none that is known");
    case Standing::kMember: break;
  }
  if (status.role == Role::kCandidate) return bad(Outcome::kWarn, "candidate");
  if (status.role == Role::kUnknown)
    return bad(Outcome::kUnknown, "its Role is none that is known");
  return {Outcome::kOk, {}};
}

Meaning meaning_of_words(const Opinion& opinion) {
  if (opinion.mode == Mode::kStandalone || opinion.mode == Mode::kRelay) {
    return {
        Outcome::kFail,
        {ReasonCode::kNotClustered, fmt::format("the database is {}", to_string(opinion.mode))}};
  }
  Meaning meaning =
      opinion.status ? meaning_of_standing(*opinion.status) : Meaning{Outcome::kOk, {}};
  if (meaning.outcome != Outcome::kOk || !opinion.local || opinion.local->connected) return meaning;
  return bad(Outcome::kFail, "not connected to its cluster");
}

const std::string* text_param(const Params& params, std::string_view name) {
  const auto found = params.find(name);
  return found == params.end() ? nullptr : std::get_if<std::string>(&found->second);
}

Result<std::optional<runtime::Endpoint>> endpoint_param(const Params& params,
                                                        std::string_view name) {
  const std::string* const text = text_param(params, name);
  if (text == nullptr) return std::nullopt;
  Result<runtime::Endpoint> endpoint = runtime::parse_endpoint(*text);
  if (!endpoint) return with_context(endpoint, "{}", name);
  return *std::move(endpoint);
}

}  // namespace

Meaning meaning_of(const Opinion& opinion) {
  if (!opinion.speaks()) return meaning_of_silence(opinion);
  Meaning meaning = meaning_of_words(opinion);
  if (meaning.outcome != Outcome::kOk) return meaning;
  for (const judge::raft::Source* source : {&opinion.status_source, &opinion.local_source}) {
    const ReasonCode code = source->reason.code;
    if (code != ReasonCode::kNone && code != ReasonCode::kNotProbed)
      return {Outcome::kWarn, source->reason};
  }
  return meaning;
}

runtime::Task<Observation> OvnProbe::look(runtime::Deadline deadline) {
  Opinion opinion = co_await member_.look(deadline);
  Meaning meaning = meaning_of(opinion);
  Observation observation;
  observation.subject = member_.target().name;
  observation.outcome = meaning.outcome;
  observation.reason = std::move(meaning.reason);
  observation.begun = opinion.begun;
  observation.ended = opinion.ended;
  observation.cost = member_.cost();
  observation.facts = std::move(opinion);
  co_return observation;
}

std::span<const ParamSpec> ovn_params() noexcept {
  return kParams;
}

Result<std::unique_ptr<Probe>> make_ovn_probe(runtime::Runtime& runtime, std::string subject,
                                              const Params& params) {
  MemberTarget target;
  target.name = std::move(subject);
  Result<std::optional<runtime::Endpoint>> control = endpoint_param(params, "control");
  if (!control) return std::unexpected(control.error());
  Result<std::optional<runtime::Endpoint>> ovsdb = endpoint_param(params, "ovsdb");
  if (!ovsdb) return std::unexpected(ovsdb.error());
  target.control = *std::move(control);
  Result<runtime::Endpoint> asked = with_ovsdb_tls(ovsdb->value_or(runtime::Endpoint{}), params);
  if (!asked) return with_context(asked, "ovsdb");
  if (*ovsdb) target.ovsdb = *std::move(asked);
  target.control_command = list_param(params, "control_command");
  target.ovsdb_command = list_param(params, "ovsdb_command");
  const std::string* const database = text_param(params, "database");
  target.database = database == nullptr ? default_database(target) : *database;
  if (target.control && target.control->kind != runtime::Endpoint::Kind::kUnix) {
    return fail(Errc::kInvalid, "control: a control socket is a unix socket, {} is not",
                to_string(*target.control));
  }
  if (target.control && !target.control_command.empty()) {
    return fail(Errc::kInvalid, "give control or control_command, not both");
  }
  if (target.ovsdb && !target.ovsdb_command.empty()) {
    return fail(Errc::kInvalid, "give ovsdb or ovsdb_command, not both");
  }
  if (!target.control && !target.ovsdb && target.control_command.empty() &&
      target.ovsdb_command.empty()) {
    return fail(Errc::kInvalid,
                "give control, control_command, ovsdb or ovsdb_command: there is no way to ask the "
                "member");
  }
  return std::make_unique<OvnProbe>(runtime, std::move(target));
}

}  // namespace wardmote::observe::ovn
