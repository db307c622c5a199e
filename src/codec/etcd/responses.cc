#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "codec/etcd/messages.h"
#include "codec/protobuf.h"

namespace wardmote::codec::etcd {
namespace {

using Kind = ProtoField::Kind;

Result<void> is(const ProtoField& field, Kind kind) {
  if (field.kind == kind) return {};
  return fail(Errc::kProtocol, "field {} has another type", field.number);
}

template <std::integral T>
Result<void> take(const ProtoField& field, T& into) {
  into = static_cast<T>(field.value);
  return is(field, Kind::kNumber);
}

Result<void> take(const ProtoField& field, std::string& into) {
  into = field.bytes;
  return is(field, Kind::kBytes);
}

Result<void> take(const ProtoField& field, std::vector<std::string>& into) {
  into.emplace_back(field.bytes);
  return is(field, Kind::kBytes);
}

/// A message inside another: `decode` takes its bytes and returns a Result<void>.
template <class Decode>
Result<void> within(const ProtoField& field, Decode decode) {
  const Result<void> right = is(field, Kind::kBytes);
  if (!right) return right;
  return decode(field.bytes);
}

Result<void> read_revision(std::string_view header, std::int64_t& revision) {
  return for_each_field(header, [&](const ProtoField& field) -> Result<void> {
    return field.number == 3 ? take(field, revision) : Result<void>();
  });
}

Result<void> take_revision(const ProtoField& header, std::int64_t& revision) {
  return within(header, [&](std::string_view bytes) { return read_revision(bytes, revision); });
}

Result<void> read(std::string_view message, KeyValue& key) {
  return for_each_field(message, [&](const ProtoField& field) -> Result<void> {
    switch (field.number) {
      case 1: return take(field, key.key);
      case 2: return take(field, key.create_revision);
      case 3: return take(field, key.mod_revision);
      case 4: return take(field, key.version);
      case 5: return take(field, key.value);
      case 6: return take(field, key.lease);
      default: return {};
    }
  });
}

Result<void> read(std::string_view message, Event& event) {
  return for_each_field(message, [&](const ProtoField& field) -> Result<void> {
    switch (field.number) {
      case 1: return take(field, event.removed);
      case 2: return within(field, [&](std::string_view kv) { return read(kv, event.key); });
      default: return {};
    }
  });
}

Result<void> read(std::string_view message, Member& member) {
  return for_each_field(message, [&](const ProtoField& field) -> Result<void> {
    switch (field.number) {
      case 1: return take(field, member.id);
      case 2: return take(field, member.name);
      case 3: return take(field, member.peer_urls);
      case 4: return take(field, member.client_urls);
      case 5: return take(field, member.learner);
      default: return {};
    }
  });
}

/// One more of a list.
template <class T>
Result<void> append(const ProtoField& field, std::vector<T>& into) {
  return within(field, [&](std::string_view bytes) { return read(bytes, into.emplace_back()); });
}

template <class T>
Result<T> as(std::string_view what, const Result<void>& read, T&& value) {
  if (!read) return with_context(read, "{}", what);
  return std::forward<T>(value);
}

}  // namespace

Result<RangeResponse> decode_range(std::string_view message) {
  RangeResponse response;
  const Result<void> read = for_each_field(message, [&](const ProtoField& field) -> Result<void> {
    switch (field.number) {
      case 1: return take_revision(field, response.revision);
      case 2: return append(field, response.keys);
      case 3: return take(field, response.more);
      default: return {};
    }
  });
  return as("RangeResponse", read, std::move(response));
}

Result<TxnResponse> decode_txn(std::string_view message) {
  TxnResponse response;
  const Result<void> read = for_each_field(message, [&](const ProtoField& field) -> Result<void> {
    switch (field.number) {
      case 1: return take_revision(field, response.revision);
      case 2: return take(field, response.succeeded);
      default: return {};
    }
  });
  return as("TxnResponse", read, TxnResponse(response));
}

Result<LeaseResponse> decode_lease(std::string_view message) {
  LeaseResponse response;
  const Result<void> read = for_each_field(message, [&](const ProtoField& field) -> Result<void> {
    switch (field.number) {
      case 2: return take(field, response.id);
      case 3: return take(field, response.ttl_s);
      default: return {};
    }
  });
  return as("LeaseGrantResponse", read, LeaseResponse(response));
}

Result<WatchResponse> decode_watch(std::string_view message) {
  WatchResponse response;
  const Result<void> read = for_each_field(message, [&](const ProtoField& field) -> Result<void> {
    switch (field.number) {
      case 1: return take_revision(field, response.revision);
      case 2: return take(field, response.watch_id);
      case 3: return take(field, response.created);
      case 4: return take(field, response.canceled);
      case 5: return take(field, response.compact_revision);
      case 6: return take(field, response.cancel_reason);
      case 7: return take(field, response.fragment);
      case 11: return append(field, response.events);
      default: return {};
    }
  });
  return as("WatchResponse", read, std::move(response));
}

Result<std::string> decode_authenticate(std::string_view message) {
  std::string token;
  const Result<void> read = for_each_field(message, [&](const ProtoField& field) -> Result<void> {
    return field.number == 2 ? take(field, token) : Result<void>();
  });
  return as("AuthenticateResponse", read, std::move(token));
}

Result<MemberList> decode_member_list(std::string_view message) {
  MemberList list;
  const auto header = [&](std::string_view bytes) {
    return for_each_field(bytes, [&](const ProtoField& field) -> Result<void> {
      return field.number == 1 ? take(field, list.cluster_id) : Result<void>();
    });
  };
  const Result<void> read = for_each_field(message, [&](const ProtoField& field) -> Result<void> {
    switch (field.number) {
      case 1: return within(field, header);
      case 2: return append(field, list.members);
      default: return {};
    }
  });
  return as("MemberListResponse", read, std::move(list));
}

Result<Status> decode_status(std::string_view message) {
  Status status;
  const auto header = [&](std::string_view bytes) {
    return for_each_field(bytes, [&](const ProtoField& field) -> Result<void> {
      if (field.number == 1) return take(field, status.cluster_id);
      if (field.number == 2) return take(field, status.member_id);
      return {};
    });
  };
  const Result<void> read = for_each_field(message, [&](const ProtoField& field) -> Result<void> {
    switch (field.number) {
      case 1: return within(field, header);
      case 2: return take(field, status.version);
      case 3: return take(field, status.db_size);
      case 4: return take(field, status.leader);
      case 5: return take(field, status.raft_index);
      case 6: return take(field, status.raft_term);
      case 7: return take(field, status.raft_applied_index);
      case 8: return take(field, status.errors);
      case 9: return take(field, status.db_size_in_use);
      case 10: return take(field, status.learner);
      case 12: return take(field, status.db_size_quota);
      default: return {};
    }
  });
  return as("StatusResponse", read, std::move(status));
}

std::optional<Alarm> parse_alarm(std::string_view error) {
  constexpr std::size_t kLongestName = 32;
  std::string_view rest = trim(error);
  Alarm alarm;
  // As protobuf writes texts, a member id of zero is left out.
  if (consume_prefix(rest, "memberID:")) {
    const auto member = parse_number<std::uint64_t>(take_until(rest, ' '));
    if (!member) return std::nullopt;
    alarm.member = *member;
  }
  if (!consume_prefix(rest, "alarm:") || rest.empty() || rest.size() > kLongestName)
    return std::nullopt;
  alarm.name = escape_control(rest);
  return alarm;
}

}  // namespace wardmote::codec::etcd
