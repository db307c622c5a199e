#include "observe/frr/client.h"

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "codec/frr.h"
#include "observe/host/holder.h"
#include "observe/reason.h"
#include "runtime/deadline.h"
#include "runtime/endpoint.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::observe::frr {

using runtime::Deadline;
using runtime::Task;

namespace {

constexpr std::string_view kSummary = "show bgp summary json";
constexpr std::string_view kFailed = "show bgp summary failed json";

}  // namespace

Client::Client(runtime::Runtime& runtime, runtime::Endpoint at, unsigned fresh_every)
    : runtime_(runtime), at_(std::move(at)), fresh_every_(fresh_every) {}

Task<Result<Snapshot>> Client::look(Deadline deadline) {
  cost_ = {};
  if (fresh_every_ != 0 && looks_++ % fresh_every_ == 0) stream_.reset();
  const bool kept = stream_ != nullptr;
  Result<Snapshot> snapshot = co_await ask(deadline);
  if (!snapshot && kept && snapshot.error().code == Errc::kClosed) {
    stream_.reset();
    snapshot = co_await ask(deadline);
  }
  if (!snapshot) {
    if (stream_ && snapshot.error().code == Errc::kTimeout) {
      std::string& context = snapshot.error().context;
      context.insert(0, holder_words(runtime_.files(), *stream_, "bgpd"));
    }
    stream_.reset();
    co_return with_context(snapshot, "{}", to_string(at_));
  }
  co_return snapshot;
}

std::uint32_t Client::holder() const {
  return stream_ ? holder_of(*stream_) : 0;
}

Task<Result<Snapshot>> Client::ask(Deadline deadline) {
  if (!stream_) {
    cost_.fresh_connection = true;
    reader_ = codec::VtyReader();
    auto stream = co_await runtime_.connect(at_, deadline);
    if (!stream) co_return std::unexpected(connect_failure(at_, stream.error()));
    stream_ = *std::move(stream);
  }
  const Result<codec::VtyReply> summary = co_await run(kSummary, deadline);
  if (!summary) co_return with_context(summary, "{}", kSummary);
  Result<codec::FrrSummary> read = codec::parse_frr_summary(summary->text);
  if (!read) co_return with_context(read, "{}", kSummary);
  const Result<codec::VtyReply> failed = co_await run(kFailed, deadline);
  if (!failed) co_return with_context(failed, "{}", kFailed);
  // Old versions do not have it; the sessions are known all the same.
  Result<std::vector<codec::FrrReset>> resets = codec::parse_frr_resets(failed->text);
  co_return Snapshot{*std::move(read),
                     resets ? *std::move(resets) : std::vector<codec::FrrReset>()};
}

Task<Result<codec::VtyReply>> Client::run(std::string_view command, Deadline deadline) {
  std::string bytes(command);
  bytes += '\0';
  const Result<void> written = co_await stream_->write(bytes, deadline);
  if (!written) co_return std::unexpected(written.error());
  cost_.bytes_out += bytes.size();
  for (;;) {
    Result<std::optional<codec::VtyReply>> reply = reader_.next();
    if (!reply) co_return std::unexpected(reply.error());
    if (*reply) {
      if ((*reply)->status != 0 && (*reply)->text.empty())
        co_return fail(Errc::kRejected, "status {}", (*reply)->status);
      co_return **std::move(reply);
    }
    if (deadline.passed(runtime_.now())) co_return fail(Errc::kTimeout, "read");
    const std::span<char> room = reader_.room();
    const Result<std::size_t> got = co_await stream_->read_some(room, deadline);
    if (!got) co_return with_context(got, "{} bytes of a reply", reader_.held());
    reader_.received(*got);
    cost_.bytes_in += *got;
  }
}

std::shared_ptr<SharedClient> share_client(runtime::Runtime& runtime, runtime::Endpoint at) {
  return runtime.commons().share<SharedClient>(to_string(at), [&] {
    return std::make_shared<SharedClient>(runtime, Client::kFreshEvery,
                                          [&runtime, at] { return Client(runtime, at); });
  });
}

}  // namespace wardmote::observe::frr
