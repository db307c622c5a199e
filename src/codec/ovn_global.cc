#include "codec/ovn_global.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
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
#include "codec/json_rpc.h"

namespace wardmote::codec {
namespace {

namespace json = boost::json;

constexpr std::string_view kEpoch = "ovn-ha:epoch";
constexpr std::string_view kNode = "ovn-ha:node";
constexpr std::string_view kChecked = "ovn-ha:checked";
constexpr std::size_t kMostConnections = 64;
constexpr std::size_t kLongestText = 256;

std::string text_of(const json::value& value) {
  return std::string(std::string_view(value.get_string()).substr(0, kLongestText));
}

/// `["uuid", "…"]`.
std::string uuid_of(const json::value* value) {
  const json::array* const pair = value == nullptr ? nullptr : value->if_array();
  if (pair == nullptr || pair->size() != 2 || !(*pair)[0].is_string() || !(*pair)[1].is_string() ||
      (*pair)[0].get_string() != "uuid")
    return {};
  return text_of((*pair)[1]);
}

/// The rows of the first `select` in the reply.
Result<const json::array*> rows_of(const RpcMessage& reply) {
  const Result<const json::value*> result = result_of(reply);
  if (!result) return std::unexpected(result.error());
  const json::array* const operations = (*result)->if_array();
  const json::object* const first =
      operations == nullptr || operations->empty() ? nullptr : operations->front().if_object();
  const json::value* const rows = first == nullptr ? nullptr : first->if_contains("rows");
  if (rows == nullptr || !rows->is_array()) return fail(Errc::kProtocol, "a reply without rows");
  return &rows->get_array();
}

/// `["map", [[key, value], …]]`.
Result<void> read_ids(const json::value& value, GlobalRow& row) {
  const json::array* const pair = value.if_array();
  const bool map = pair != nullptr && pair->size() == 2 && (*pair)[0].is_string() &&
                   (*pair)[0].get_string() == "map" && (*pair)[1].is_array();
  if (!map) return fail(Errc::kProtocol, "external_ids is not a map");
  for (const json::value& entry : (*pair)[1].get_array()) {
    const json::array* const both = entry.if_array();
    if (both == nullptr || both->size() != 2 || !(*both)[0].is_string() || !(*both)[1].is_string())
      return fail(Errc::kProtocol, "external_ids is not a map of texts");
    const std::string_view key = (*both)[0].get_string();
    if (key == kNode) row.node = text_of((*both)[1]);
    if (key != kEpoch) continue;
    const auto epoch = parse_number<std::uint64_t>((*both)[1].get_string());
    if (!epoch) return fail(Errc::kProtocol, "{} is not a number", kEpoch);
    row.epoch = *epoch;
  }
  return {};
}

std::string ids(std::uint64_t epoch, std::string_view node) {
  return fmt::format(R"(["map",[["{}","{}"],["{}",{}]]])", kEpoch, epoch, kNode, json_string(node));
}

}  // namespace

std::string_view global_table(std::string_view database) noexcept {
  return database == "OVN_Southbound" ? "SB_Global" : "NB_Global";
}

std::string select_global(std::string_view database) {
  return fmt::format(
      R"([{},{{"op":"select","table":"{}","where":[],"columns":["external_ids","nb_cfg"]}}])",
      json_string(database), global_table(database));
}

Result<std::optional<GlobalRow>> read_global(const RpcMessage& reply) {
  const Result<const json::array*> rows = rows_of(reply);
  if (!rows) return std::unexpected(rows.error());
  if ((*rows)->empty()) return std::optional<GlobalRow>();
  const json::object* const columns = (*rows)->front().if_object();
  const json::value* const external =
      columns == nullptr ? nullptr : columns->if_contains("external_ids");
  if (external == nullptr) return fail(Errc::kProtocol, "a row without external_ids");
  GlobalRow row;
  const Result<void> read = read_ids(*external, row);
  if (!read) return std::unexpected(read.error());
  const json::value* const counter = columns->if_contains("nb_cfg");
  if (counter != nullptr && counter->is_int64()) row.counter = counter->get_int64();
  return row;
}

std::string stamp_epoch(std::string_view database, bool has_row, std::uint64_t epoch,
                        std::string_view node) {
  constexpr std::string_view kCommit = R"({"op":"commit","durable":true})";
  const std::string_view table = global_table(database);
  if (!has_row) {
    return fmt::format(R"([{},{{"op":"insert","table":"{}","row":{{"external_ids":{}}}}},{}])",
                       json_string(database), table, ids(epoch, node), kCommit);
  }
  // The keys are removed first, since an insert does not replace the value of a key.
  return fmt::format(R"([{},{{"op":"mutate","table":"{}","where":[],"mutations":)"
                     R"([["external_ids","delete",["set",["{}","{}"]]],)"
                     R"(["external_ids","insert",{}]]}},{}])",
                     json_string(database), table, kEpoch, kNode, ids(epoch, node), kCommit);
}

std::string write_check(std::string_view database, std::int64_t now) {
  return fmt::format(R"([{},{{"op":"mutate","table":"{}","where":[],"mutations":)"
                     R"([["external_ids","delete",["set",["{}"]]],)"
                     R"(["external_ids","insert",["map",[["{}","{}"]]]]]}},)"
                     R"({{"op":"commit","durable":true}}])",
                     json_string(database), global_table(database), kChecked, kChecked, now);
}

std::string select_connections(std::string_view database) {
  return fmt::format(
      R"([{},{{"op":"select","table":"Connection","where":[],"columns":["_uuid","target"]}}])",
      json_string(database));
}

Result<std::vector<ConnectionRow>> read_connections(const RpcMessage& reply) {
  const Result<const json::array*> rows = rows_of(reply);
  if (!rows) return std::unexpected(rows.error());
  if ((*rows)->size() > kMostConnections)
    return fail(Errc::kLimit, "more than {} connections", kMostConnections);
  std::vector<ConnectionRow> found;
  for (const json::value& row : **rows) {
    const json::object* const columns = row.if_object();
    const json::value* const target = columns == nullptr ? nullptr : columns->if_contains("target");
    if (target == nullptr || !target->is_string())
      return fail(Errc::kProtocol, "a connection without a target");
    std::string uuid = uuid_of(columns->if_contains("_uuid"));
    if (uuid.empty()) return fail(Errc::kProtocol, "a connection without a UUID");
    found.push_back({std::move(uuid), text_of(*target)});
  }
  return found;
}

std::string add_connection(std::string_view database, std::string_view target, std::int64_t probe) {
  return fmt::format(R"([{},{{"op":"insert","table":"Connection","uuid-name":"conn",)"
                     R"("row":{{"target":{},"inactivity_probe":{}}}}},)"
                     R"({{"op":"mutate","table":"{}","where":[],"mutations":)"
                     R"([["connections","insert",["set",[["named-uuid","conn"]]]]]}}])",
                     json_string(database), json_string(target), probe, global_table(database));
}

std::string retarget_connection(std::string_view database, std::string_view uuid,
                                std::string_view target) {
  return fmt::format(R"([{},{{"op":"update","table":"Connection",)"
                     R"("where":[["_uuid","==",["uuid",{}]]],"row":{{"target":{}}}}}])",
                     json_string(database), json_string(uuid), json_string(target));
}

Result<void> read_done(const RpcMessage& reply) {
  const Result<const json::value*> result = result_of(reply);
  if (!result) return std::unexpected(result.error());
  const json::array* const operations = (*result)->if_array();
  if (operations == nullptr || operations->empty())
    return fail(Errc::kProtocol, "a transaction without results");
  for (const json::value& operation : *operations) {
    if (!operation.is_object()) return fail(Errc::kProtocol, "an operation without a result");
  }
  return {};
}

Result<std::string> read_server_id(const RpcMessage& reply) {
  const Result<const json::value*> result = result_of(reply);
  if (!result) return std::unexpected(result.error());
  if (!(*result)->is_string()) return fail(Errc::kProtocol, "a server id that is not a text");
  return text_of(**result);
}

}  // namespace wardmote::codec
