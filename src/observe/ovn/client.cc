#include "observe/ovn/client.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "codec/ovsdb.h"
#include "codec/raft_status.h"
#include "judge/outcome.h"
#include "judge/raft/opinion.h"
#include "observe/ovn/convert.h"
#include "observe/ovn/refusal.h"
#include "runtime/deadline.h"
#include "runtime/process.h"
#include "runtime/runtime.h"
#include "runtime/task_group.h"

namespace wardmote::observe::ovn {

using runtime::Deadline;
using runtime::Task;

namespace {

std::unexpected<ClientError> client_error(ClientErrorCode code, std::string context) {
  return std::unexpected(ClientError{code, std::move(context)});
}

Task<Result<std::string>> run_process(runtime::Processes* processes, std::vector<std::string> argv,
                                      Deadline deadline) {
  const std::string command = argv.front();
  runtime::ProcessSpec spec;
  spec.argv = std::move(argv);
  const Result<runtime::ProcessExit> exit = co_await processes->run(std::move(spec), deadline);
  if (!exit) co_return std::unexpected(exit.error());
  const std::string_view output = trim(exit->standard_output);
  if (exit->status == 0) co_return std::string(output);
  const std::string_view words = output.empty() ? trim(exit->standard_error) : output;
  co_return fail(Errc::kRejected, "{}: exit {}: {}", command, exit->status, words);
}

/// Whether `links` contain a connection to or from `peer` that is up.
bool linked(const codec::RaftStatus& status, std::string_view peer) noexcept {
  return std::ranges::any_of(
      status.links, [&](const codec::RaftLink& link) { return link.up && link.peer == peer; });
}

std::string role_of(const codec::RaftServer& server, const codec::RaftStatus& status) {
  if (!server.role.empty()) return server.role;
  if (server.self) return status.role;
  if (status.leader == server.nickname || status.leader == server.id) return "leader";
  const bool has_leader = !status.leader.empty() && status.leader != "unknown";
  return has_leader ? "follower" : "";
}

bool connected(const codec::RaftServer& server, const codec::RaftStatus& status,
               Duration fresh) noexcept {
  if (server.self) return true;
  if (server.connected) return *server.connected;
  if (server.last_message_ms)
    return *server.last_message_ms <= static_cast<std::uint64_t>(to_ms(fresh));
  if (!server.role.empty()) return !server.role.contains("disconn");
  return linked(status, server.nickname);
}

ClusterStatus to_cluster_status(const codec::RaftStatus& status, Duration fresh) {
  ClusterStatus cluster;
  cluster.name = status.name;
  cluster.role = status.role;
  cluster.term = status.term.value_or(0);
  cluster.index = status.index.value_or(to_status(status).applied_index());
  cluster.connected = status.connected.value_or(status.standing == "cluster member");
  for (const codec::RaftServer& server : status.servers) {
    cluster.servers.push_back({.sid = server.id,
                               .address = server.address,
                               .role = role_of(server, status),
                               .self = server.self,
                               .connected = connected(server, status, fresh),
                               .last_message_ms = server.last_message_ms,
                               .next_index = server.next_index,
                               .match_index = server.match_index});
  }
  return cluster;
}

std::expected<codec::RaftStatus, ClientError> read_status(std::string_view output) {
  Result<codec::RaftStatus> status = codec::parse_raft_status(output);
  if (!status) return client_error(ClientErrorCode::kStatusUnreadable, status.error().describe());
  if (!status->complete())
    return client_error(ClientErrorCode::kStatusUnreadable, "cluster/status: cut short");
  return *std::move(status);
}

std::expected<std::optional<codec::ServerRow>, ClientError> read_row(std::string_view output) {
  Result<std::optional<codec::ServerRow>> row = codec::parse_query_output(output);
  if (row) return *std::move(row);
  ClientErrorCode code = ClientErrorCode::kQueryUnreadable;
  if (row.error().code == Errc::kRejected) code = ClientErrorCode::kQueryFailed;
  if (codec::is_bad_id(row.error())) code = ClientErrorCode::kBadId;
  return client_error(code, row.error().context);
}

std::expected<ServerLocalView, ClientError> to_local_view(const codec::ServerRow& row) {
  if (row.cluster_id.empty() || row.server_id.empty()) {
    return client_error(ClientErrorCode::kBadId,
                        "_Server.Database: no cid or sid: the database is not clustered");
  }
  return ServerLocalView{row.leader, row.connected, row.cluster_id, row.server_id, row.index};
}

ClientError no_row() {
  return {ClientErrorCode::kNoRow, "_Server.Database has no row for it"};
}

void take_query_output(HealthSnapshot& snapshot, std::string_view output) {
  judge::raft::Opinion& opinion = snapshot.opinion;
  const auto read = read_row(output);
  if (!read) {
    const bool refused = read.error().code == ClientErrorCode::kQueryFailed;
    opinion.local_source.reason = {
        refused ? judge::ReasonCode::kRejected : judge::ReasonCode::kProtocol,
        read.error().context};
    snapshot.errors.push_back(read.error());
    return;
  }
  const std::optional<codec::ServerRow>& row = *read;
  if (!row) {
    opinion.mode = judge::raft::Mode::kAbsent;
    opinion.local_source.reason = {judge::ReasonCode::kUnknownCluster, no_row().context};
    snapshot.errors.push_back(no_row());
    return;
  }
  opinion.mode = to_mode(*row);
  opinion.local_source.reason = {};
  opinion.local = to_local(*row);
  auto local = to_local_view(*row);
  if (local) {
    snapshot.local = *std::move(local);
  } else {
    snapshot.errors.push_back(std::move(local.error()));
  }
}

}  // namespace

std::string_view to_string(Database database) noexcept {
  return database == Database::kNorthbound ? "OVN_Northbound" : "OVN_Southbound";
}

std::expected<Database, ClientError> parse_database(std::string_view name) {
  for (const Database database : {Database::kNorthbound, Database::kSouthbound}) {
    if (name == to_string(database)) return database;
  }
  return client_error(ClientErrorCode::kUnknownDatabase,
                      fmt::format("'{}' is not an OVN database: OVN_Northbound or OVN_Southbound",
                                  escape_control(name, 64)));
}

std::string_view to_string(ClientErrorCode code) noexcept {
  switch (code) {
    case ClientErrorCode::kControlPathMissing: return "control_path_missing";
    case ClientErrorCode::kUnknownDatabase: return "unknown_database";
    case ClientErrorCode::kQueryFailed: return "query_failed";
    case ClientErrorCode::kQueryUnreadable: return "query_unreadable";
    case ClientErrorCode::kNoRow: return "no_row";
    case ClientErrorCode::kBadId: return "bad_id";
    case ClientErrorCode::kStatusFailed: return "status_failed";
    case ClientErrorCode::kStatusUnreadable: return "status_unreadable";
  }
  return "unknown_database";
}

Runner process_runner(runtime::Processes& processes) {
  return [&processes](std::vector<std::string> argv, Deadline deadline) {
    return run_process(&processes, std::move(argv), deadline);
  };
}

std::size_t HealthSnapshot::stale_member_count(std::size_t expected) const noexcept {
  const std::size_t listed = full ? full->servers.size() : 0;
  return listed > expected ? listed - expected : 0;
}

std::expected<ServerLocalView, ClientError> read_local_view(std::string_view query_output) {
  const auto read = read_row(query_output);
  if (!read) return std::unexpected(read.error());
  const std::optional<codec::ServerRow>& row = *read;
  if (!row) return std::unexpected(no_row());
  return to_local_view(*row);
}

std::expected<ClusterStatus, ClientError> read_cluster_status(std::string_view status_output,
                                                              Duration fresh_last_message) {
  const auto status = read_status(status_output);
  if (!status) return std::unexpected(status.error());
  return to_cluster_status(*status, fresh_last_message);
}

Client::Client(runtime::Runtime& runtime, ClientOptions options, Runner runner)
    : runtime_(runtime), options_(std::move(options)), runner_(std::move(runner)) {}

Client::Client(runtime::Runtime& runtime, ClientOptions options)
    : Client(runtime, std::move(options), process_runner(runtime.processes())) {}

Task<HealthSnapshot> Client::health(Database database, std::optional<Deadline> deadline,
                                    std::string member) {
  HealthSnapshot snapshot;
  snapshot.database = database;
  co_await look(&snapshot, deadline, std::move(member));
  co_return snapshot;
}

Task<BothHealth> Client::health_both(std::optional<Deadline> deadline, std::string member) {
  BothHealth both;
  both.northbound.database = Database::kNorthbound;
  both.southbound.database = Database::kSouthbound;
  std::vector<Task<void>> looks;
  looks.push_back(look(&both.northbound, deadline, member));
  looks.push_back(look(&both.southbound, deadline, member));
  co_await runtime::run_all(runtime_.executor(), std::move(looks));
  co_return both;
}

Task<void> Client::look(HealthSnapshot* snapshot, std::optional<Deadline> deadline,
                        std::string member) {
  snapshot->opinion.member = std::move(member);
  snapshot->opinion.begun = runtime_.now();
  std::vector<Task<void>> views;
  views.push_back(query(snapshot, deadline));
  views.push_back(ask_status(snapshot, deadline));
  co_await runtime::run_all(runtime_.executor(), std::move(views));
  snapshot->opinion.ended = runtime_.now();
  if (snapshot->opinion.mode == judge::raft::Mode::kUnknown && snapshot->opinion.status) {
    snapshot->opinion.mode = judge::raft::Mode::kClustered;
  }
  std::ranges::sort(snapshot->errors, {}, &ClientError::code);
}

Task<void> Client::query(HealthSnapshot* snapshot, std::optional<Deadline> deadline) {
  const bool north = snapshot->database == Database::kNorthbound;
  std::vector<std::string> argv{options_.ovsdb_client};
  if (options_.use_tls) {
    argv.insert(argv.end(),
                {"-p", options_.key, "-c", options_.certificate, "-C", options_.ca_certificate});
  }
  argv.insert(argv.end(), {"query", north ? options_.nb_ovsdb : options_.sb_ovsdb,
                           codec::select_server_row(to_string(snapshot->database))});
  const Deadline end = deadline.value_or(runtime_.deadline_in(options_.command_timeout));
  const Result<std::string> output = co_await runner_(std::move(argv), end);
  if (!output) {
    snapshot->opinion.local_source.reason = reason_of_command(output.error());
    snapshot->errors.push_back({ClientErrorCode::kQueryFailed, output.error().describe()});
    co_return;
  }
  take_query_output(*snapshot, *output);
}

Task<void> Client::ask_status(HealthSnapshot* snapshot, std::optional<Deadline> deadline) {
  const bool north = snapshot->database == Database::kNorthbound;
  const std::string& control = north ? options_.nb_control : options_.sb_control;
  if (control.empty()) {
    snapshot->errors.push_back(
        {ClientErrorCode::kControlPathMissing,
         fmt::format("no control socket for {}", to_string(snapshot->database))});
    co_return;
  }
  snapshot->opinion.control_command = {options_.appctl, "-t", control};
  std::vector<std::string> argv = snapshot->opinion.control_command;
  argv.insert(argv.end(), {"cluster/status", std::string(to_string(snapshot->database))});
  const Deadline end = deadline.value_or(runtime_.deadline_in(options_.command_timeout));
  const Result<std::string> output = co_await runner_(std::move(argv), end);
  judge::raft::Source& source = snapshot->opinion.status_source;
  if (!output) {
    source.reason = reason_of_command(output.error());
    snapshot->errors.push_back({ClientErrorCode::kStatusFailed, output.error().describe()});
    co_return;
  }
  auto status = read_status(*output);
  if (!status) {
    source.reason = {judge::ReasonCode::kProtocol, status.error().context};
    snapshot->errors.push_back(std::move(status.error()));
    co_return;
  }
  source.reason = {};
  snapshot->full = to_cluster_status(*status, options_.fresh_last_message);
  snapshot->opinion.status = to_status(*std::move(status));
}

}  // namespace wardmote::observe::ovn
