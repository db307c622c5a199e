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

#include "base/format.h"
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

constexpr std::string_view kAllVrfs = "all";

/// `what`: part of the summary.
std::string command(std::string_view vrf, std::string_view what) {
  if (vrf == kDefaultVrf) return fmt::format("show bgp summary{} json", what);
  return fmt::format("show bgp vrf {} summary{} json", vrf, what);
}

}  // namespace

Client::Client(runtime::Runtime& runtime, runtime::Endpoint at, const std::string& vrf,
               unsigned fresh_every)
    : runtime_(runtime),
      at_(std::move(at)),
      summary_(command(vrf, "")),
      failed_(command(vrf, " failed")),
      all_vrfs_(vrf == kAllVrfs),
      fresh_every_(fresh_every) {}

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
  const Result<codec::VtyReply> summary = co_await run(summary_, deadline);
  if (!summary) co_return with_context(summary, "{}", summary_);
  Result<codec::FrrSummary> read = codec::parse_frr_summary(summary->text, all_vrfs_);
  if (!read) co_return with_context(read, "{}", summary_);
  const Result<codec::VtyReply> failed = co_await run(failed_, deadline);
  if (!failed) co_return with_context(failed, "{}", failed_);
  // Old versions do not have this command; the sessions are known all the same.
  Result<std::vector<codec::FrrReset>> resets = codec::parse_frr_resets(failed->text, all_vrfs_);
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

std::shared_ptr<SharedClient> share_client(runtime::Runtime& runtime, runtime::Endpoint at,
                                           std::string vrf) {
  return runtime.shared().share<SharedClient>(to_string(at) + " vrf " + vrf, [&] {
    return std::make_shared<SharedClient>(runtime, Client::kFreshEvery,
                                          [&runtime, at, vrf] { return Client(runtime, at, vrf); });
  });
}

}  // namespace wardmote::observe::frr
