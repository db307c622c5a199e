#include "observe/etcd/member_client.h"

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "codec/etcd/messages.h"
#include "codec/grpc.h"
#include "codec/http2_session.h"
#include "judge/etcd/member_facts.h"
#include "judge/etcd/metrics.h"
#include "observe/etcd/convert.h"
#include "observe/etcd/metrics_client.h"
#include "observe/reason.h"
#include "runtime/deadline.h"
#include "runtime/endpoint.h"
#include "runtime/http2_connection.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "runtime/task_group.h"

namespace wardmote::observe::etcd {

using codec::Http2Session;
using judge::etcd::MemberFacts;
using runtime::Deadline;
using runtime::Endpoint;
using runtime::Task;

namespace {

constexpr std::string_view kStatus = "/etcdserverpb.Maintenance/Status";
constexpr std::string_view kMemberList = "/etcdserverpb.Cluster/MemberList";
/// More than the list of a hundred members.
constexpr std::size_t kMostData = 64 << 10;
/// Pings and the like; a server that sends more does not want to answer.
constexpr codec::Http2Limits kLimits{.calls = 1, .idle_bytes = 16 << 10};

std::string authority_of(const Endpoint& at) {
  if (at.kind == Endpoint::Kind::kUnix) return "localhost";
  return at.host.contains(':') ? fmt::format("[{}]:{}", at.host, at.port)
                               : fmt::format("{}:{}", at.host, at.port);
}

/// The one message of an answer that has ended well.
Result<std::string> message_of(const codec::Http2Call& call, std::string_view data) {
  const Result<codec::GrpcStatus> status = codec::read_grpc_status(call);
  if (!status) return std::unexpected(status.error());
  constexpr std::int64_t kPermissionDenied = 7;
  constexpr std::int64_t kUnauthenticated = 16;
  if (status->code == kPermissionDenied || status->code == kUnauthenticated)
    return fail(Errc::kDenied, "{}", escape_control(status->message));
  if (status->code != 0)
    return fail(Errc::kRejected, "status {}: {}", status->code, escape_control(status->message));
  codec::GrpcFramer framer(kMostData);
  framer.feed(data);
  Result<std::optional<std::string>> message = framer.next();
  if (!message) return std::unexpected(message.error());
  if (!*message || !framer.empty()) return fail(Errc::kProtocol, "not one whole message");
  return **std::move(message);
}

}  // namespace

MemberClient::MemberClient(runtime::Runtime& runtime, Endpoint at,
                           std::optional<MetricsTarget> metrics, unsigned fresh_every)
    : runtime_(runtime),
      at_(std::move(at)),
      authority_(authority_of(at_)),
      fresh_every_(fresh_every) {
  if (metrics) metrics_.emplace(runtime, *std::move(metrics));
}

Task<Result<MemberFacts>> MemberClient::look(Deadline deadline) {
  Result<MemberFacts> facts;
  if (!metrics_) {
    facts = co_await look_at_status(deadline);
    co_return facts;
  }
  judge::etcd::MetricsReport report;
  std::vector<Task<void>> tasks;
  tasks.push_back(look_into(&facts, deadline));
  tasks.push_back(read_metrics(&report, deadline));
  co_await runtime::run_all(runtime_.executor(), std::move(tasks));
  cost_.bytes_in += metrics_->cost().bytes_in;
  cost_.bytes_out += metrics_->cost().bytes_out;
  if (facts) facts->metrics = std::move(report);
  co_return facts;
}

Task<void> MemberClient::look_into(Result<MemberFacts>* into, Deadline deadline) {
  Result<MemberFacts> facts = co_await look_at_status(deadline);
  *into = std::move(facts);
}

Task<void> MemberClient::read_metrics(judge::etcd::MetricsReport* into, Deadline deadline) {
  judge::etcd::MetricsReport report = co_await metrics_->look(deadline);
  *into = std::move(report);
}

Task<Result<MemberFacts>> MemberClient::look_at_status(Deadline deadline) {
  cost_ = {};
  // A cancelled look has left its call open.
  if (std::exchange(looking_, true)) connection_.reset();
  if (fresh_every_ != 0 && looks_++ % fresh_every_ == 0) connection_.reset();
  const bool kept = connection_ != nullptr;
  Result<MemberFacts> facts = co_await ask(deadline);
  if (!facts && kept && facts.error().code == Errc::kClosed) {
    drop();
    facts = co_await ask(deadline);
  }
  looking_ = false;
  if (!facts && !connection_) co_return facts;  // the context names the address
  if (!facts) {
    drop();
    co_return with_context(facts, "{}", to_string(at_));
  }
  count_traffic();
  if (!connection_->session().takes_calls()) connection_.reset();
  co_return facts;
}

Task<Result<MemberFacts>> MemberClient::ask(Deadline deadline) {
  if (!connection_) {
    cost_.fresh_connection = true;
    auto stream = co_await runtime_.connect(at_, deadline);
    if (!stream) co_return std::unexpected(connect_failure(at_, stream.error()));
    connection_ = std::make_unique<runtime::Http2Connection>(runtime_, *std::move(stream), kLimits);
  }
  const Result<std::string> status = co_await call(std::string(kStatus), std::string(), deadline);
  if (!status) co_return with_context(status, "Status");
  const Result<codec::etcd::Status> said = codec::etcd::decode_status(*status);
  if (!said) co_return std::unexpected(said.error());
  std::string question = codec::etcd::encode_own_member_list();
  const Result<std::string> list =
      co_await call(std::string(kMemberList), std::move(question), deadline);
  if (!list) co_return with_context(list, "MemberList");
  const Result<codec::etcd::MemberList> members = codec::etcd::decode_member_list(*list);
  if (!members) co_return std::unexpected(members.error());
  co_return to_facts(*said, *members);
}

Task<Result<std::string>> MemberClient::call(std::string path, std::string message,
                                             Deadline deadline) {
  Http2Session& session = connection_->session();
  const std::string_view scheme = at_.kind == Endpoint::Kind::kTls ? "https" : "http";
  const Duration left = deadline.left(runtime_.now());
  const Result<Http2Session::CallId> id =
      session.open(codec::grpc_headers(scheme, authority_, path, left));
  if (!id) co_return std::unexpected(id.error());
  const Result<void> sent = session.send(*id, codec::encode_grpc_message(message), true);
  if (!sent) co_return std::unexpected(sent.error());
  std::string data;
  while (!session.call(*id).ended) {
    const Result<void> received = co_await connection_->receive(deadline);
    if (!received) co_return std::unexpected(received.error());
    data += session.take_data(*id);
    const codec::Http2Call& so_far = session.call(*id);
    if (!so_far.headers.empty()) {
      const Result<void> good = codec::check_grpc_headers(so_far.headers);
      if (!good) co_return std::unexpected(good.error());
    }
    if (data.size() > kMostData) co_return fail(Errc::kLimit, "an answer over {} bytes", kMostData);
    if (so_far.failure) co_return std::unexpected(*so_far.failure);
  }
  Result<std::string> answer = message_of(session.call(*id), data);
  session.close(*id);
  co_return answer;
}

void MemberClient::drop() {
  if (!connection_) return;
  count_traffic();
  connection_.reset();
}

void MemberClient::count_traffic() {
  const runtime::Http2Connection::Traffic traffic = connection_->take_traffic();
  cost_.bytes_in += traffic.in;
  cost_.bytes_out += traffic.out;
}

}  // namespace wardmote::observe::etcd
