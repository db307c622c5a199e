#include "observe/ovn/member.h"

#include <algorithm>
#include <chrono>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "codec/ovsdb.h"
#include "judge/observation.h"
#include "judge/outcome.h"
#include "judge/raft/opinion.h"
#include "observe/ovn/convert.h"
#include "observe/ovn/ovsdb_client.h"
#include "observe/ovn/refusal.h"
#include "observe/ovn/unixctl_client.h"
#include "runtime/deadline.h"
#include "runtime/process.h"
#include "runtime/runtime.h"
#include "runtime/task_group.h"

namespace wardmote::observe::ovn {

using judge::ReasonCode;
using judge::raft::Mode;
using judge::raft::Neighbour;
using judge::raft::Opinion;
using runtime::Deadline;
using runtime::Task;
using namespace std::chrono_literals;

namespace {

/// What a process has changes when a person changes it.
constexpr Duration kNeighboursEvery = 10s;

/// The two answers are read one after the other. The first reader stops a little before the
/// deadline, so that a server which is silent on that way leaves time to read the other answer,
/// which arrived long ago.
Deadline early(Deadline deadline, TimePoint now) {
  const Duration left = deadline.left(now);
  return {deadline.at - std::clamp<Duration>(left / 10, Duration::zero(), 50ms)};
}

/// If the loop is so late that the deadline has passed, answers that have arrived are still read:
/// our lateness is not their silence.
Deadline unless_late(Deadline deadline, TimePoint now) {
  return deadline.passed(now) ? Deadline{now + 1ms} : deadline;
}

std::vector<std::string> control_argv(const MemberTarget& target) {
  if (!target.control_command.empty() || !target.control) return target.control_command;
  return {"ovn-appctl", "-t", target.control->path};
}

/// What a member without a row, or without a status, is.
Mode mode_of(const Opinion& opinion) noexcept {
  if (opinion.mode != Mode::kUnknown) return opinion.mode;
  if (opinion.status) return Mode::kClustered;
  const bool unknown_there = opinion.status_source.reason.code == ReasonCode::kUnknownCluster ||
                             opinion.local_source.reason.code == ReasonCode::kUnknownCluster;
  return unknown_there ? Mode::kAbsent : Mode::kUnknown;
}

}  // namespace

Member::Member(runtime::Runtime& runtime, MemberTarget target)
    : runtime_(runtime), target_(std::move(target)), control_argv_(control_argv(target_)) {
  if (target_.control && target_.control_command.empty()) {
    control_ = std::make_unique<UnixctlClient>(runtime_, *target_.control, target_.database,
                                               target_.options);
  }
  if (target_.ovsdb && target_.ovsdb_command.empty()) {
    ovsdb_ =
        std::make_unique<OvsdbClient>(runtime_, *target_.ovsdb, target_.database, target_.options);
  }
}

Task<Opinion> Member::look(Deadline deadline) {
  Opinion opinion;
  opinion.member = target_.name;
  opinion.database = target_.database;
  opinion.control_command = control_argv_;
  opinion.begun = runtime_.now();
  if (target_.control_command.empty() && target_.ovsdb_command.empty()) {
    co_await look_at_sockets(&opinion, deadline);
  } else {
    co_await look_by_command(&opinion, deadline);
  }
  opinion.mode = mode_of(opinion);
  const bool in_time = !deadline.passed(runtime_.now());
  if (opinion.mode == Mode::kAbsent && opinion.serves.empty() && in_time) {
    co_await ask_what_it_serves(&opinion, deadline);
  }
  cost_ = spent();
  opinion.roams = roams(opinion);
  if (opinion.speaks() && in_time) co_await ask_neighbours(&opinion, deadline);
  opinion.ended = runtime_.now();
  co_return opinion;
}

/// Both requests are sent before the first answer is awaited. The control socket goes first: it is
/// local, so connecting to it cannot use up the time of the other; and ovsdb-server serves it
/// first, so that one wake-up usually finds both answers.
Task<void> Member::look_at_sockets(Opinion* opinion, Deadline deadline) {
  const Deadline first = control_ && ovsdb_ ? early(deadline, opinion->begun) : deadline;
  if (control_) co_await control_->ask(first);
  if (ovsdb_) co_await ovsdb_->ask(first);
  if (control_) {
    // Connecting to the other way, perhaps with TLS, may have used all the time.
    const TimePoint now = runtime_.now();
    const Duration glance = std::min<Duration>(1ms, deadline.left(now) / 2);
    const Deadline arrived = first.passed(now) ? Deadline{now + glance} : first;
    StatusAnswer status = co_await control_->answer(arrived);
    take(*opinion, std::move(status));
  }
  if (ovsdb_) {
    const Deadline last = unless_late(deadline, runtime_.now());
    RowAnswer row = co_await ovsdb_->answer(last);
    take(*opinion, std::move(row));
  }
}

Task<void> Member::look_by_command(Opinion* opinion, Deadline deadline) {
  std::vector<Task<void>> ways;
  if (!target_.control_command.empty()) ways.push_back(run_status(opinion, deadline));
  if (!target_.ovsdb_command.empty()) ways.push_back(run_query(opinion, deadline));
  ways.push_back(look_at_sockets(opinion, deadline));
  co_await runtime::run_all(runtime_.executor(), std::move(ways));
}

Task<void> Member::run_status(Opinion* opinion, Deadline deadline) {
  std::vector<std::string> argv = target_.control_command;
  argv.emplace_back("cluster/status");
  argv.push_back(target_.database);
  const auto output = co_await run(std::move(argv), deadline);
  StatusAnswer answer;
  if (output) {
    answer = read_status_text(*output);
  } else {
    answer.reason = output.error();
  }
  take(*opinion, std::move(answer));
}

Task<void> Member::run_query(Opinion* opinion, Deadline deadline) {
  std::vector<std::string> argv = target_.ovsdb_command;
  argv.push_back(codec::select_server_row(target_.database));
  const auto output = co_await run(std::move(argv), deadline);
  RowAnswer answer;
  if (output) {
    answer = read_query_output(*output);
    if (answer.reason.code == ReasonCode::kUnknownCluster) {
      std::vector<std::string> names = target_.ovsdb_command;
      names.push_back(codec::select_database_names());
      const auto list = co_await run(std::move(names), deadline);
      if (list)
        answer.serves = codec::parse_database_names(*list).value_or(std::vector<std::string>());
    }
  } else {
    answer.reason = output.error();
  }
  take(*opinion, std::move(answer));
}

Task<std::expected<std::string, judge::Reason>> Member::run(std::vector<std::string> argv,
                                                            Deadline deadline) {
  const std::string program = argv.front();
  runtime::ProcessSpec spec;
  spec.argv = std::move(argv);
  spec.output_cap = target_.options.limits.message_bytes;
  Result<runtime::ProcessExit> exit = co_await runtime_.processes().run(std::move(spec), deadline);
  if (!exit) co_return std::unexpected(reason_of_run(program, exit.error()));
  if (exit->status == 0) co_return std::move(exit->standard_output);
  const std::string& words =
      exit->standard_error.empty() ? exit->standard_output : exit->standard_error;
  co_return std::unexpected(reason_of_exit(exit->status, trim(words)));
}

/// Reported by the control side; the other side was already asked for the row, and has reported it
/// too.
Task<void> Member::ask_what_it_serves(Opinion* opinion, Deadline deadline) {
  if (opinion->status_source.reason.code != ReasonCode::kUnknownCluster) co_return;
  std::vector<std::string> names = co_await list_databases(deadline);
  opinion->serves = std::move(names);
}

/// By the way that says who the server is.
bool Member::roams(const Opinion& opinion) const noexcept {
  const bool by_control = opinion.status.has_value();
  if (by_control) return !target_.control_command.empty();
  return !target_.ovsdb || target_.ovsdb->kind != runtime::Endpoint::Kind::kUnix;
}

Task<void> Member::ask_neighbours(Opinion* opinion, Deadline deadline) {
  const TimePoint now = runtime_.now();
  // Of a server that does not say, the connection may be lost by the question.
  const bool replaced = neighbours_ && cost_.fresh_connection;
  if (!asked_at_ || replaced || now - *asked_at_ >= kNeighboursEvery) {
    asked_at_ = now;
    const std::vector<std::string> names = co_await list_databases(deadline);
    std::vector<Neighbour> found;
    for (const std::string& name : names) {
      if (name == target_.database) continue;
      std::string database = name;
      std::optional<Neighbour> neighbour = co_await ask_neighbour(std::move(database), deadline);
      if (neighbour) found.push_back(*std::move(neighbour));
    }
    neighbours_.reset();
    if (!names.empty()) neighbours_ = std::move(found);
  }
  opinion->neighbours = neighbours_;
  opinion->neighbours_at = *asked_at_;
}

Task<std::vector<std::string>> Member::list_databases(Deadline deadline) {
  if (control_) {
    std::vector<std::string> names = co_await control_->list_databases(deadline);
    co_return names;
  }
  if (target_.control_command.empty() && ovsdb_) {
    std::vector<std::string> names = co_await ovsdb_->list_databases(deadline);
    co_return names;
  }
  if (target_.control_command.empty()) {
    std::vector<std::string> argv = target_.ovsdb_command;
    argv.push_back(codec::select_database_names());
    const auto output = co_await run(std::move(argv), deadline);
    if (!output) co_return std::vector<std::string>();
    co_return codec::parse_database_names(*output).value_or(std::vector<std::string>());
  }
  std::vector<std::string> argv = target_.control_command;
  argv.emplace_back("ovsdb-server/list-dbs");
  const auto output = co_await run(std::move(argv), deadline);
  co_return output ? codec::split_database_names(*output) : std::vector<std::string>();
}

/// Nothing: the database is not one of raft.
Task<std::optional<Neighbour>> Member::ask_neighbour(std::string database, Deadline deadline) {
  StatusAnswer status;
  RowAnswer row;
  if (control_) {
    status = co_await control_->status_of(database, deadline);
  } else if (!target_.control_command.empty()) {
    std::vector<std::string> argv = target_.control_command;
    argv.emplace_back("cluster/status");
    argv.push_back(database);
    const auto output = co_await run(std::move(argv), deadline);
    status = output ? read_status_text(*output) : StatusAnswer{.reason = output.error()};
  } else if (ovsdb_) {
    row = co_await ovsdb_->row_of(database, deadline);
  } else {
    std::vector<std::string> argv = target_.ovsdb_command;
    argv.push_back(codec::select_server_row(database));
    const auto output = co_await run(std::move(argv), deadline);
    if (output) row = read_query_output(*output);
  }
  for (const judge::Reason* const said : {&status.reason, &row.reason}) {
    if (said->code == ReasonCode::kUnknownCluster || said->code == ReasonCode::kNotClustered)
      co_return std::nullopt;
  }
  if (row.row && to_mode(*row.row) != Mode::kClustered) co_return std::nullopt;
  Neighbour neighbour{.database = std::move(database)};
  if (status.status) {
    judge::raft::Status said = to_status(*std::move(status.status));
    neighbour.server_id = said.server_id;
    neighbour.cluster_id = said.cluster_id;
    neighbour.address = std::move(said.address);
  }
  if (row.row) {
    const judge::raft::Local said = to_local(*row.row);
    neighbour.server_id = said.server_id;
    neighbour.cluster_id = said.cluster_id;
  }
  co_return neighbour;
}

void Member::take(Opinion& opinion, StatusAnswer answer) {
  opinion.status_source.reason = std::move(answer.reason);
  if (!answer.status) return;
  lines_not_understood_ += answer.status->unknown_count;
  opinion.status = to_status(*std::move(answer.status));
}

void Member::take(Opinion& opinion, RowAnswer answer) {
  opinion.local_source.reason = std::move(answer.reason);
  opinion.serves = std::move(answer.serves);
  if (!answer.row) return;
  opinion.local = to_local(*answer.row);
  opinion.mode = to_mode(*answer.row);
}

judge::Cost Member::spent() const noexcept {
  judge::Cost sum;
  const auto add = [&](const judge::Cost& cost) {
    sum.bytes_in += cost.bytes_in;
    sum.bytes_out += cost.bytes_out;
    sum.fresh_connection = sum.fresh_connection || cost.fresh_connection;
  };
  if (control_) add(control_->cost());
  if (ovsdb_) add(ovsdb_->cost());
  return sum;
}

}  // namespace wardmote::observe::ovn
