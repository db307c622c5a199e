#include "act/failover/replica.h"

#include <algorithm>
#include <boost/json/value.hpp>
#include <chrono>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "codec/json_rpc.h"
#include "codec/ovn_global.h"
#include "codec/sync_status.h"
#include "codec/unixctl_text.h"
#include "observe/ovn/rpc_client.h"
#include "runtime/deadline.h"
#include "runtime/endpoint.h"
#include "runtime/runtime.h"

namespace wardmote::act::failover {

using codec::SyncStatus;
using runtime::Deadline;
using runtime::Task;
using Life = ReplicaState::Life;
using namespace std::chrono_literals;

namespace {

/// A role shows in the next round of the server's loop.
constexpr Duration kNextLook = 5ms;
/// A server becomes a backup within a turn of its loop, or not at all.
constexpr Duration kRefuses = 1s;
/// Before a deadline: time for one more answer.
constexpr Duration kLastLook = 50ms;
/// A process that computes this part of the time that we wait is busy.
constexpr int kBusyPart = 10;
constexpr int kMostSilences = 3;

std::string params_of(std::string_view text) {
  return "[" + codec::json_string(text) + "]";
}

Life life_of(Errc code, bool process) noexcept {
  if (code == Errc::kDenied) return Life::kDenied;
  const bool door = code == Errc::kRefused || code == Errc::kMissing || code == Errc::kClosed;
  if (door) return process ? Life::kNoDoor : Life::kDown;
  return Life::kUnreadable;
}

constexpr std::string_view kTransact = "transact";
constexpr std::string_view kServerId = "get_server_id";

/// One request, and the reply to it.
Task<Result<codec::RpcMessage>> exchange(observe::ovn::RpcClient* client, std::string_view method,
                                         std::string params, Deadline deadline) {
  client->prepare(method, params);
  const Result<void> sent = co_await client->send(deadline);
  if (!sent) co_return std::unexpected(sent.error());
  Result<codec::RpcMessage> reply = co_await client->receive(deadline);
  co_return reply;
}

}  // namespace

Replica::Replica(runtime::Runtime& runtime, ReplicaFiles files, Patience patience)
    : runtime_(runtime),
      files_(std::move(files)),
      patience_(patience),
      control_(runtime, runtime::Endpoint::unix_socket(files_.control), {}),
      data_(runtime, runtime::Endpoint::unix_socket(files_.socket), {}) {}

Deadline Replica::soon(Deadline deadline) const {
  return {std::min(deadline.at, runtime_.now() + patience_.answer)};
}

Task<Result<std::string>> Replica::command(std::string_view method, std::string params,
                                           Deadline deadline) {
  control_.prepare(method, params);
  const Result<void> sent = co_await control_.send(deadline);
  if (!sent) co_return with_context(sent, "{}", method);
  const Result<codec::RpcMessage> reply = co_await control_.receive(deadline);
  if (!reply) co_return with_context(reply, "{}", method);
  Result<std::string> text = codec::read_unixctl_text(*reply);
  co_return text;
}

Task<Result<SyncStatus>> Replica::ask(Deadline deadline) {
  std::string none = "[]";
  const Result<std::string> text =
      co_await command("ovsdb-server/sync-status", std::move(none), deadline);
  if (!text) co_return std::unexpected(text.error());
  co_return codec::sync_status_of(*text, files_.database);
}

Task<ReplicaState> Replica::look(Deadline deadline) {
  ReplicaState state;
  state.process = process();
  const Deadline first = soon(deadline);
  Result<SyncStatus> status = co_await ask(first);
  if (status) {
    state.life = Life::kAnswers;
    state.sync = *std::move(status);
    co_return state;
  }
  state.detail = status.error().describe();
  if (status.error().code != Errc::kTimeout) {
    state.life = life_of(status.error().code, state.process.has_value());
    co_return state;
  }
  ReplicaState waited = co_await wait_for_answer(deadline);
  co_return waited;
}

/// Why a silent server is hung; empty while it may still answer.
std::string Replica::hung(const Pulse& pulse, Duration waited, int silences) const {
  const std::uint32_t pid = pulse.id.pid;
  if (pulse.state == 'T' || pulse.state == 't') return fmt::format("process {} is stopped", pid);
  if (pulse.state == 'D' && waited >= patience_.disk)
    return fmt::format("process {} waits for a disk", pid);
  if (silences >= kMostSilences || waited >= patience_.busy)
    return fmt::format("process {} does not answer", pid);
  return {};
}

Task<ReplicaState> Replica::wait_for_answer(Deadline deadline) {
  ReplicaState state;
  const TimePoint begun = runtime_.now();
  int silences = 1;
  while (true) {
    const std::optional<Pulse> before = pulse();
    if (!before) {
      state.process.reset();
      state.life = Life::kDown;
      state.detail = "its process is gone";
      co_return state;
    }
    state.process = before->id;
    state.detail = hung(*before, runtime_.now() - begun, silences);
    state.life = state.detail.empty() ? Life::kBusy : Life::kHung;
    if (state.life == Life::kHung) co_return state;
    state.detail = fmt::format("process {} is busy", before->id.pid);
    if (deadline.passed(runtime_.now())) co_return state;
    const TimePoint asked = runtime_.now();
    const Deadline next = soon(deadline);
    Result<SyncStatus> status = co_await ask(next);
    if (status) {
      state.life = Life::kAnswers;
      state.sync = *std::move(status);
      co_return state;
    }
    const std::optional<Pulse> after = pulse();
    if (!after || after->state == 'D') continue;
    const bool same = after->id == before->id;
    const bool computes = (after->cpu - before->cpu) * kBusyPart >= runtime_.now() - asked;
    silences = same && computes ? 0 : silences + 1;
  }
}

Task<Result<void>> Replica::promote(Deadline deadline) {
  std::string none = "[]";
  const Result<std::string> reply =
      co_await command("ovsdb-server/disconnect-active-ovsdb-server", std::move(none), deadline);
  if (!reply) co_return with_context(reply, "promote {}", files_.database);
  while (true) {
    const Result<SyncStatus> now = co_await ask(deadline);
    if (!now) co_return with_context(now, "promote {}", files_.database);
    if (now->active) co_return Result<void>();
    if (deadline.passed(runtime_.now() + kLastLook)) {
      co_return fail(Errc::kRejected, "promote {}: it stays a backup: {}", files_.database,
                     escape_control(trim(*reply)));
    }
    co_await runtime_.sleep_until(runtime_.now() + kNextLook);
  }
}

Task<Result<void>> Replica::follow(std::string source, std::int64_t probe, Deadline deadline) {
  struct Step {
    std::string_view method;
    std::string params;
  };
  // From OVS 3.3 on it is the third of these that moves a backup to another source.
  std::vector<Step> steps;
  steps.push_back({"ovsdb-server/set-active-ovsdb-server", params_of(source)});
  steps.push_back({"ovsdb-server/connect-active-ovsdb-server", "[]"});
  steps.push_back(
      {"ovsdb-server/set-active-ovsdb-server-probe-interval", params_of(std::to_string(probe))});
  std::string refused;
  for (const Step& step : steps) {
    std::string params = step.params;
    const Result<std::string> reply = co_await command(step.method, std::move(params), deadline);
    if (!reply && reply.error().code != Errc::kRejected)
      co_return with_context(reply, "{} as a backup of {}", files_.database, source);
    if (!reply) refused = reply.error().describe();
    if (reply && !trim(*reply).empty()) refused = trim(*reply);
  }
  const TimePoint told = runtime_.now();
  while (true) {
    const Result<SyncStatus> now = co_await ask(deadline);
    if (!now) co_return with_context(now, "{} as a backup of {}", files_.database, source);
    if (!now->active && now->source == source) co_return Result<void>();
    const bool refuses = now->active && runtime_.now() - told >= kRefuses;
    if (refuses || deadline.passed(runtime_.now() + kLastLook)) {
      co_return fail(Errc::kRejected, "{} as a backup of {}: it is {} instead: {}", files_.database,
                     source, now->active ? "writable" : "a backup of " + now->source,
                     escape_control(refused));
    }
    co_await runtime_.sleep_until(runtime_.now() + kNextLook);
  }
}

Task<Result<std::optional<codec::GlobalRow>>> Replica::global(Deadline deadline) {
  std::string params = codec::select_global(files_.database);
  const Result<codec::RpcMessage> reply =
      co_await exchange(&data_, kTransact, std::move(params), deadline);
  if (!reply) co_return std::unexpected(reply.error());
  co_return codec::read_global(*reply);
}

Task<Result<void>> Replica::stamp(std::uint64_t epoch, std::string node, Deadline deadline) {
  const Result<std::optional<codec::GlobalRow>> row = co_await global(deadline);
  if (!row) co_return with_context(row, "write to {}", files_.database);
  std::string params = codec::stamp_epoch(files_.database, row->has_value(), epoch, node);
  const Result<codec::RpcMessage> reply =
      co_await exchange(&data_, kTransact, std::move(params), deadline);
  if (!reply) co_return with_context(reply, "write to {}", files_.database);
  const Result<void> done = codec::read_done(*reply);
  if (!done) co_return with_context(done, "write to {}", files_.database);
  co_return Result<void>();
}

Task<Result<void>> Replica::check_write(Deadline deadline) {
  const auto now =
      std::chrono::duration_cast<std::chrono::milliseconds>(runtime_.wall_now().time_since_epoch());
  std::string params = codec::write_check(files_.database, now.count());
  const Result<codec::RpcMessage> reply =
      co_await exchange(&data_, kTransact, std::move(params), deadline);
  if (!reply) co_return with_context(reply, "write to {}", files_.database);
  const Result<void> done = codec::read_done(*reply);
  if (!done) co_return with_context(done, "write to {}", files_.database);
  co_return Result<void>();
}

Task<Result<void>> Replica::listen(std::string target, std::int64_t probe, Deadline deadline) {
  std::string select = codec::select_connections(files_.database);
  Result<codec::RpcMessage> reply =
      co_await exchange(&data_, kTransact, std::move(select), deadline);
  if (!reply) co_return with_context(reply, "connections of {}", files_.database);
  const Result<std::vector<codec::ConnectionRow>> rows = codec::read_connections(*reply);
  if (!rows) co_return with_context(rows, "connections of {}", files_.database);
  if (std::ranges::find(*rows, target, &codec::ConnectionRow::target) != rows->end())
    co_return Result<void>();
  std::string params = rows->size() == 1
                           ? codec::retarget_connection(files_.database, rows->front().uuid, target)
                           : codec::add_connection(files_.database, target, probe);
  reply = co_await exchange(&data_, kTransact, std::move(params), deadline);
  if (!reply) co_return with_context(reply, "connections of {}", files_.database);
  co_return codec::read_done(*reply);
}

Task<Result<std::vector<std::string>>> Replica::remotes(Deadline deadline) {
  std::string none = "[]";
  const Result<std::string> text =
      co_await command("ovsdb-server/list-remotes", std::move(none), deadline);
  if (!text) co_return with_context(text, "remotes of {}", files_.database);
  std::vector<std::string> found;
  for (const std::string_view line : split(*text, '\n')) {
    if (!trim(line).empty()) found.emplace_back(trim(line));
  }
  co_return found;
}

Task<Result<void>> Replica::open(std::vector<std::string> wanted, Deadline deadline) {
  Result<std::vector<std::string>> there = co_await remotes(deadline);
  if (!there) co_return std::unexpected(there.error());
  const auto missing = [&] {
    return std::ranges::find_if(wanted, [&](const std::string& remote) {
      return std::ranges::find(*there, remote) == there->end();
    });
  };
  if (missing() == wanted.end()) co_return Result<void>();
  std::string refused;
  for (const std::string& remote : wanted) {
    if (std::ranges::find(*there, remote) != there->end()) continue;
    const Result<std::string> reply =
        co_await command("ovsdb-server/add-remote", params_of(remote), deadline);
    if (!reply) refused = reply.error().describe();
  }
  there = co_await remotes(deadline);
  if (!there) co_return std::unexpected(there.error());
  if (missing() == wanted.end()) co_return Result<void>();
  co_return fail(Errc::kRejected, "{} does not listen at {}: {}", files_.database, *missing(),
                 escape_control(refused));
}

Task<Result<void>> Replica::close(std::string port, Deadline deadline) {
  const Result<std::vector<std::string>> there = co_await remotes(deadline);
  if (!there) co_return std::unexpected(there.error());
  const auto is_open = [&](std::string_view remote) {
    if (consume_prefix(remote, "db:")) return true;
    const bool network = consume_prefix(remote, "ptcp:") || consume_prefix(remote, "pssl:");
    return network && take_until(remote, ':') == port;
  };
  for (const std::string& remote : *there) {
    if (!is_open(remote)) continue;
    const Result<std::string> reply =
        co_await command("ovsdb-server/remove-remote", params_of(remote), deadline);
    if (!reply) co_return with_context(reply, "{} listens at {}", files_.database, remote);
  }
  co_return Result<void>();
}

Task<Result<std::string>> Replica::server_id(Deadline deadline) {
  const Result<codec::RpcMessage> reply = co_await exchange(&data_, kServerId, "[]", deadline);
  if (!reply) co_return std::unexpected(reply.error());
  co_return codec::read_server_id(*reply);
}

Task<std::uint64_t> Replica::cells(Deadline deadline) {
  std::string none = "[]";
  const Result<std::string> text = co_await command("memory/show", std::move(none), deadline);
  if (!text) co_return 0;
  for (std::string_view word : split(*text, ' ')) {
    word = trim(word);
    if (consume_prefix(word, "cells:")) co_return parse_number<std::uint64_t>(word).value_or(0);
  }
  co_return 0;
}

Task<Result<SourceFacts>> ask_source(runtime::Runtime* runtime, runtime::Endpoint at,
                                     std::string database, Deadline deadline) {
  observe::ovn::RpcClient client(*runtime, std::move(at), {});
  Result<codec::RpcMessage> reply = co_await exchange(&client, kServerId, "[]", deadline);
  if (!reply) co_return std::unexpected(reply.error());
  Result<std::string> id = codec::read_server_id(*reply);
  if (!id) co_return std::unexpected(id.error());
  std::string params = codec::select_global(database);
  reply = co_await exchange(&client, kTransact, std::move(params), deadline);
  if (!reply) co_return std::unexpected(reply.error());
  Result<std::optional<codec::GlobalRow>> row = codec::read_global(*reply);
  if (!row) co_return std::unexpected(row.error());
  co_return SourceFacts{*std::move(id), *std::move(row)};
}

}  // namespace wardmote::act::failover
