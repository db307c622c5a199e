#include "store/etcd/etcd_store.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "codec/etcd/messages.h"
#include "runtime/deadline.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "store/beat.h"
#include "store/etcd/client.h"
#include "store/etcd/etcd_watch.h"
#include "store/seen_revision.h"
#include "store/store.h"

namespace wardmote::store::etcd {

namespace wire = codec::etcd;
using runtime::Deadline;
using runtime::Task;
using Repeat = Client::Repeat;

namespace {

constexpr std::string_view kRange = "/etcdserverpb.KV/Range";
constexpr std::string_view kTxn = "/etcdserverpb.KV/Txn";
constexpr std::string_view kGrant = "/etcdserverpb.Lease/LeaseGrant";
constexpr std::string_view kKeepAlive = "/etcdserverpb.Lease/LeaseKeepAlive";
constexpr std::string_view kRevoke = "/etcdserverpb.Lease/LeaseRevoke";
/// Keys of one answer, so that no answer grows with the store.
constexpr std::int64_t kOnePage = 1000;

wire::CompareTarget target_of(Compare::Target target) noexcept {
  switch (target) {
    case Compare::Target::kVersion: return wire::CompareTarget::kVersion;
    case Compare::Target::kCreateRevision: return wire::CompareTarget::kCreate;
    case Compare::Target::kModRevision: return wire::CompareTarget::kMod;
    case Compare::Target::kLease: return wire::CompareTarget::kLease;
    case Compare::Target::kValue: return wire::CompareTarget::kValue;
  }
  return wire::CompareTarget::kVersion;
}

wire::CompareResult result_of(Compare::Relation relation) noexcept {
  switch (relation) {
    case Compare::Relation::kEqual: return wire::CompareResult::kEqual;
    case Compare::Relation::kNotEqual: return wire::CompareResult::kNotEqual;
    case Compare::Relation::kLess: return wire::CompareResult::kLess;
    case Compare::Relation::kGreater: return wire::CompareResult::kGreater;
  }
  return wire::CompareResult::kEqual;
}

bool is_one(const KeyRange& keys) {
  return keys.end == keys.begin + '\0';
}

Result<Lease> lease_of(const Result<std::string>& answer) {
  if (!answer) return std::unexpected(answer.error());
  const Result<wire::LeaseResponse> lease = wire::decode_lease(*answer);
  if (!lease) return std::unexpected(lease.error());
  if (lease->ttl_s <= 0) return fail(Errc::kMissing, "etcd: the lease has expired");
  return Lease{lease->id, std::chrono::seconds(lease->ttl_s)};
}

}  // namespace

EtcdStore::EtcdStore(runtime::Runtime& runtime, ClientOptions options, std::string prefix,
                     std::string beat_key)
    : runtime_(runtime),
      prefix_(std::move(prefix)),
      beat_key_(std::move(beat_key)),
      client_(runtime, std::move(options)) {}

wire::Keys EtcdStore::keys_of(const KeyRange& keys) const {
  // One key needs the right to that key only.
  if (is_one(keys)) return {prefix_ + keys.begin, ""};
  // etcd knows no empty key: without a prefix all keys begin with the byte 0.
  std::string begin = prefix_ + keys.begin;
  if (begin.empty()) begin.assign(1, '\0');
  if (!keys.end.empty()) return {std::move(begin), prefix_ + keys.end};
  std::string end = KeyRange::prefix(prefix_).end;
  if (end.empty()) end.assign(1, '\0');
  return {std::move(begin), std::move(end)};
}

Task<Result<Found>> EtcdStore::get(std::string key, Deadline deadline) {
  KeyRange keys = KeyRange::one(key);
  Result<Snapshot> snapshot = co_await list(std::move(keys), deadline);
  if (!snapshot) co_return std::unexpected(snapshot.error());
  Found found{snapshot->revision, std::nullopt};
  if (!snapshot->keys.empty()) found.key = std::move(snapshot->keys.front());
  co_return found;
}

Task<Result<Snapshot>> EtcdStore::list(KeyRange keys, Deadline deadline) {
  wire::RangeRequest request{keys_of(keys), kOnePage, 0};
  const SeenRevision::Mark asked = seen().mark();
  Snapshot snapshot;
  for (;;) {
    std::string path(kRange);
    const Result<std::string> answer =
        co_await client_.call(std::move(path), wire::encode(request), Repeat::kSafe, deadline);
    if (!answer) co_return with_context(answer, "list");
    Result<wire::RangeResponse> page = wire::decode_range(*answer);
    if (!page) co_return with_context(page, "etcd: list");
    // All pages are of the revision of the first.
    if (snapshot.revision == 0) {
      snapshot.revision = request.revision = page->revision;
      seen().answered(asked, page->revision, false);
    }
    for (wire::KeyValue& key : page->keys) {
      std::string_view name = key.key;
      if (!consume_prefix(name, prefix_)) co_return fail(Errc::kProtocol, "etcd: another key");
      snapshot.keys.push_back({std::string(name), std::move(key.value), key.create_revision,
                               key.mod_revision, key.version, key.lease});
    }
    if (!page->more || page->keys.empty()) break;
    request.keys.key = page->keys.back().key + '\0';
  }
  // Whoever reads on from here must not take an older copy for the store.
  if (!is_one(keys)) {
    const Result<void> looked = co_await look_at_beat(asked, deadline);
    if (!looked) co_return std::unexpected(looked.error());
  }
  co_return snapshot;
}

/// After what was asked: if that is of a copy, then so is this.
Task<Result<void>> EtcdStore::look_at_beat(SeenRevision::Mark asked, Deadline deadline) {
  std::string key = beat_key_;
  const Result<Found> found = co_await get(std::move(key), deadline);
  // A reader may have no right to it.
  if (!found && found.error().code == Errc::kDenied) co_return Result<void>();
  if (!found) co_return std::unexpected(found.error());
  seen().answered_beat(asked, beat_of(*found));
  co_return Result<void>();
}

wire::TxnRequest EtcdStore::request_of(const Transaction& transaction) const {
  wire::TxnRequest request;
  for (const Compare& compare : transaction.conditions) {
    request.compare.push_back({keys_of(compare.keys), target_of(compare.target),
                               result_of(compare.relation), compare.operand});
  }
  for (const StoreChange& change : transaction.changes) {
    if (const auto* const put = std::get_if<Put>(&change)) {
      request.success.emplace_back(wire::PutRequest{prefix_ + put->key, put->value, put->lease});
    } else {
      request.success.emplace_back(wire::DeleteRequest{keys_of(std::get<Erase>(change).keys)});
    }
  }
  return request;
}

Task<Result<Committed>> EtcdStore::put_if(Transaction transaction, Deadline deadline) {
  const Result<void> makes_sense = check_sense(transaction);
  if (!makes_sense) co_return with_context(makes_sense, "etcd: put");
  const SeenRevision::Mark asked = seen().mark();
  const bool puts = std::ranges::any_of(
      transaction.changes, [](const StoreChange& one) { return std::holds_alternative<Put>(one); });
  std::string path(kTxn);
  const Result<std::string> answer = co_await client_.call(
      std::move(path), wire::encode(request_of(transaction)), Repeat::kNever, deadline);
  if (!answer && answer.error().code == Errc::kMissing)
    co_return fail(Errc::kRejected, "put: {}", answer.error().context);
  if (!answer) co_return with_context(answer, "put");
  const Result<wire::TxnResponse> done = wire::decode_txn(*answer);
  if (!done) co_return with_context(done, "etcd: put");
  seen().answered(asked, done->revision, done->succeeded && puts);
  co_return Committed{done->succeeded, done->revision};
}

std::unique_ptr<Watch> EtcdStore::watch(KeyRange keys, Revision from) {
  return std::make_unique<EtcdWatch>(runtime_, client_, seen(), keys_of(keys), prefix_, from);
}

Task<Result<Lease>> EtcdStore::grant(Duration ttl, Deadline deadline) {
  if (ttl <= Duration::zero()) co_return fail(Errc::kInvalid, "store: a lease for no time");
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(ttl).count();
  // One that was granted unheard expires by itself.
  std::string path(kGrant);
  const Result<std::string> answer = co_await client_.call(
      std::move(path), wire::encode_lease_grant(seconds), Repeat::kSafe, deadline);
  co_return lease_of(answer);
}

Task<Result<Lease>> EtcdStore::keep_alive(LeaseId lease, Deadline deadline) {
  std::string path(kKeepAlive);
  const Result<std::string> answer =
      co_await client_.call(std::move(path), wire::encode_lease_id(lease), Repeat::kSafe, deadline);
  co_return lease_of(answer);
}

Task<Result<void>> EtcdStore::revoke(LeaseId lease, Deadline deadline) {
  std::string path(kRevoke);
  const Result<std::string> answer =
      co_await client_.call(std::move(path), wire::encode_lease_id(lease), Repeat::kSafe, deadline);
  if (!answer) co_return std::unexpected(answer.error());
  co_return Result<void>();
}

}  // namespace wardmote::store::etcd
