#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "codec/etcd/messages.h"
#include "codec/protobuf.h"

namespace wardmote::codec::etcd {
namespace {

/// The numbers of the fields are those of the messages that the names say.
std::string encode(const Compare& compare) {
  ProtoWriter message;
  message.number(1, static_cast<std::int64_t>(compare.result));
  message.number(2, static_cast<std::int64_t>(compare.target));
  message.bytes(3, compare.keys.key);
  if (const auto* const text = std::get_if<std::string>(&compare.operand)) {
    message.message(7, *text);
  } else {
    std::uint32_t field = 4;
    if (compare.target == CompareTarget::kCreate) field = 5;
    if (compare.target == CompareTarget::kMod) field = 6;
    if (compare.target == CompareTarget::kLease) field = 8;
    message.chosen_number(field, std::get<std::int64_t>(compare.operand));
  }
  message.bytes(64, compare.keys.end);
  return message.take();
}

std::string encode(const PutRequest& put) {
  ProtoWriter message;
  message.bytes(1, put.key);
  message.bytes(2, put.value);
  message.number(3, put.lease);
  return message.take();
}

std::string encode(const DeleteRequest& request) {
  ProtoWriter message;
  message.bytes(1, request.keys.key);
  message.bytes(2, request.keys.end);
  return message.take();
}

/// RequestOp.
std::string encode(const std::variant<PutRequest, DeleteRequest>& operation) {
  ProtoWriter message;
  if (const auto* const put = std::get_if<PutRequest>(&operation)) {
    message.message(2, encode(*put));
  } else {
    message.message(3, encode(std::get<DeleteRequest>(operation)));
  }
  return message.take();
}

}  // namespace

std::string encode(const RangeRequest& request) {
  ProtoWriter message;
  message.bytes(1, request.keys.key);
  message.bytes(2, request.keys.end);
  message.number(3, request.limit);
  message.number(4, request.revision);
  return message.take();
}

std::string encode(const TxnRequest& request) {
  ProtoWriter message;
  for (const Compare& compare : request.compare) message.message(1, encode(compare));
  for (const auto& operation : request.success) message.message(2, encode(operation));
  return message.take();
}

std::string encode_compact(std::int64_t revision) {
  ProtoWriter message;
  message.number(1, revision);
  return message.take();
}

std::string encode_lease_grant(std::int64_t ttl_s) {
  ProtoWriter message;
  message.number(1, ttl_s);
  return message.take();
}

std::string encode_lease_id(std::int64_t lease) {
  ProtoWriter message;
  message.number(1, lease);
  return message.take();
}

std::string encode_watch_create(const Keys& keys, std::int64_t start_revision) {
  ProtoWriter create;
  create.bytes(1, keys.key);
  create.bytes(2, keys.end);
  create.number(3, start_revision);
  create.number(4, 1);  // progress_notify
  create.number(8, 1);  // fragment
  ProtoWriter message;
  message.message(1, create.take());
  return message.take();
}

std::string encode_watch_progress() {
  ProtoWriter message;
  message.message(3, "");
  return message.take();
}

std::string encode_authenticate(std::string_view user, std::string_view password) {
  ProtoWriter message;
  message.bytes(1, user);
  message.bytes(2, password);
  return message.take();
}

std::string encode_member_list() {
  ProtoWriter message;
  message.number(1, 1);  // linearizable
  return message.take();
}

std::string encode_own_member_list() {
  return {};
}

}  // namespace wardmote::codec::etcd
