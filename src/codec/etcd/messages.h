#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace wardmote::codec::etcd {

// The messages of etcd's API v3 that an agent needs, by hand: field numbers of
// github.com/etcd-io/etcd, api/etcdserverpb/rpc.proto and api/mvccpb/kv.proto, the same from 3.0 to
// 3.6. Unknown fields are skipped, so that later versions of the server can be read.

struct KeyValue {
  std::string key;
  std::string value;
  std::int64_t create_revision = 0;
  std::int64_t mod_revision = 0;
  std::int64_t version = 0;
  std::int64_t lease = 0;
};

/// Keys from `key` to before `end`; an empty end is that one key, and "\0" is all keys from `key`
/// on.
struct Keys {
  std::string key;
  std::string end;
};

struct RangeRequest {
  Keys keys;
  std::int64_t limit = 0;     ///< 0: all
  std::int64_t revision = 0;  ///< 0: the newest
};
std::string encode(const RangeRequest& request);

struct RangeResponse {
  std::int64_t revision = 0;  ///< of the store
  std::vector<KeyValue> keys;
  bool more = false;
};
Result<RangeResponse> decode_range(std::string_view message);

enum class CompareResult : std::uint8_t { kEqual, kGreater, kLess, kNotEqual };
enum class CompareTarget : std::uint8_t { kVersion, kCreate, kMod, kValue, kLease };

struct Compare {
  Keys keys;
  CompareTarget target = CompareTarget::kVersion;
  CompareResult result = CompareResult::kEqual;
  std::variant<std::int64_t, std::string> operand;  ///< a text for kValue
};
struct PutRequest {
  std::string key;
  std::string value;
  std::int64_t lease = 0;
};
struct DeleteRequest {
  Keys keys;
};
struct TxnRequest {
  std::vector<Compare> compare;
  std::vector<std::variant<PutRequest, DeleteRequest>> success;
};
std::string encode(const TxnRequest& request);

struct TxnResponse {
  std::int64_t revision = 0;
  bool succeeded = false;
};
Result<TxnResponse> decode_txn(std::string_view message);

/// Forgets what was before `revision`.
std::string encode_compact(std::int64_t revision);

std::string encode_lease_grant(std::int64_t ttl_s);
/// LeaseRevokeRequest and LeaseKeepAliveRequest are the same on the wire.
std::string encode_lease_id(std::int64_t lease);

struct LeaseResponse {
  std::int64_t id = 0;
  std::int64_t ttl_s = 0;  ///< of a lease that has expired 0 or less
};
/// LeaseGrantResponse and LeaseKeepAliveResponse are the same on the wire.
Result<LeaseResponse> decode_lease(std::string_view message);

/// Asks for fragments and for progress.
std::string encode_watch_create(const Keys& keys, std::int64_t start_revision);
/// Asks for an answer on all watches of the stream.
std::string encode_watch_progress();

struct Event {
  bool removed = false;  ///< then only the key and its mod_revision are set
  KeyValue key;
};
struct WatchResponse {
  std::int64_t revision = 0;  ///< of the store, which may be ahead of the events
  std::int64_t watch_id = 0;  ///< -1: of all watches of the stream, or of none
  bool created = false;
  bool canceled = false;
  std::int64_t compact_revision = 0;
  std::string cancel_reason;
  bool fragment = false;  ///< more events of the same response follow
  std::vector<Event> events;
};
Result<WatchResponse> decode_watch(std::string_view message);

std::string encode_authenticate(std::string_view user, std::string_view password);
Result<std::string> decode_authenticate(std::string_view message);

/// MemberListRequest, answered by the cluster and not by one member alone.
std::string encode_member_list();
/// The same, answered by the member that is asked from what it knows, also without a leader.
std::string encode_own_member_list();

struct Member {
  std::uint64_t id = 0;
  std::string name;
  std::vector<std::string> peer_urls;
  std::vector<std::string> client_urls;
  bool learner = false;
};
struct MemberList {
  std::uint64_t cluster_id = 0;
  std::vector<Member> members;
};
Result<MemberList> decode_member_list(std::string_view message);

/// Of the member that was asked; the request is empty.
struct Status {
  std::uint64_t cluster_id = 0;
  std::uint64_t member_id = 0;
  std::string version;
  std::int64_t db_size = 0;
  std::int64_t db_size_in_use = 0;
  std::uint64_t leader = 0;  ///< 0: none
  std::uint64_t raft_index = 0;
  std::uint64_t raft_applied_index = 0;
  std::uint64_t raft_term = 0;
  std::vector<std::string> errors;
  bool learner = false;
  std::int64_t db_size_quota = 0;  ///< 0: it does not say; etcd 3.6 and later do
};
Result<Status> decode_status(std::string_view message);

/// An alarm among Status::errors: `memberID:13803658152347727308 alarm:NOSPACE ` (etcd's
/// server/etcdserver/api/v3rpc/maintenance.go writes pb.AlarmMember's text form, from 3.4 to 3.6).
/// Maintenance.Alarm is not asked for them: each such question is an entry of the cluster's log.
struct Alarm {
  std::uint64_t member = 0;
  std::string name;  ///< `NOSPACE`, `CORRUPT`
};
/// Nothing when it is another error.
std::optional<Alarm> parse_alarm(std::string_view error);

}  // namespace wardmote::codec::etcd
