#include "codec/content_digest.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/result.h"
#include "codec/bytes.h"
#include "codec/digest.h"
#include "codec/json_rpc.h"

namespace wardmote::codec {
namespace {

namespace json = boost::json;

constexpr std::size_t kMostTables = 256;
/// Of the southbound database: most of what it holds, which ovn-northd computes from the northbound
/// one alone (ovn-sb(5)).
const std::set<std::string_view> kComputed = {"Logical_DP_Group", "Logical_Flow"};

/// Made up by each server for itself. A `monitor` without a list of columns has `_version` too.
bool ephemeral(std::string_view table, std::string_view column) noexcept {
  if (column == "_version") return true;
  return table == "Connection" && (column == "status" || column == "is_connected");
}

std::string text_of(const json::value& value) {
  return json::serialize(value);
}

/// One value in a form that does not depend on the order of the members of a set or a map.
std::string canonical(const json::value& value) {
  const json::array* const pair = value.if_array();
  const bool tagged =
      pair != nullptr && pair->size() == 2 && (*pair)[0].is_string() && (*pair)[1].is_array();
  if (!tagged) return text_of(value);
  const std::string_view tag = (*pair)[0].get_string();
  if (tag != "set" && tag != "map") return text_of(value);
  std::vector<std::string> members;
  for (const json::value& member : (*pair)[1].get_array()) members.push_back(text_of(member));
  // A set of one is its only member (RFC 7047 5.1).
  if (tag == "set" && members.size() == 1) return members.front();
  std::ranges::sort(members);
  std::string text(tag);
  for (const std::string& member : members) {
    text += '\n';
    text += member;
  }
  return text;
}

Digest hash_of(std::string_view bytes) {
  const Sha256 hash = sha256(bytes);
  const std::string_view text(reinterpret_cast<const char*>(hash.data()), hash.size());
  return {big_endian<std::uint64_t>(text), big_endian<std::uint64_t>(text.substr(8))};
}

Digest hash_of(std::string_view table, std::string_view uuid, const json::object& columns) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : columns) {
    if (!ephemeral(table, name))
      parts.push_back(fmt::format("{}={}", std::string_view(name), canonical(value)));
  }
  std::ranges::sort(parts);
  std::string row = fmt::format("{}\n{}", table, uuid);
  for (const std::string& part : parts) {
    row += '\0';
    row += part;
  }
  return hash_of(row);
}

}  // namespace

std::string to_string(const Digest& digest) {
  return fmt::format("{:016x}{:016x}", digest.high, digest.low);
}

Result<std::vector<std::string>> read_tables(const RpcMessage& reply) {
  const Result<const json::value*> result = result_of(reply);
  if (!result) return std::unexpected(result.error());
  const json::object* const schema = (*result)->if_object();
  const json::value* const tables = schema == nullptr ? nullptr : schema->if_contains("tables");
  if (tables == nullptr || !tables->is_object())
    return fail(Errc::kProtocol, "a schema without tables");
  if (tables->get_object().size() > kMostTables)
    return fail(Errc::kLimit, "more than {} tables", kMostTables);
  std::vector<std::string> names;
  for (const auto& [name, table] : tables->get_object()) names.emplace_back(std::string_view(name));
  std::ranges::sort(names);
  return names;
}

std::string watch_content(std::string_view database, const std::vector<std::string>& tables) {
  std::string requests;
  for (const std::string& table : tables) {
    if (database == "OVN_Southbound" && kComputed.contains(table)) continue;
    if (!requests.empty()) requests += ',';
    requests += json_string(table) + ":{}";
  }
  return fmt::format(R"([{},"content",{{{}}}])", json_string(database), requests);
}

void ContentTracker::add(const Digest& hash) noexcept {
  const std::uint64_t low = sum_.low + hash.low;
  sum_.high += hash.high + (low < sum_.low ? 1 : 0);
  sum_.low = low;
}

void ContentTracker::subtract(const Digest& hash) noexcept {
  const std::uint64_t low = sum_.low - hash.low;
  sum_.high -= hash.high + (low > sum_.low ? 1 : 0);
  sum_.low = low;
}

Result<void> ContentTracker::begin(const RpcMessage& reply) {
  rows_.clear();
  sum_ = {};
  const Result<const json::value*> result = result_of(reply);
  if (!result) return std::unexpected(result.error());
  return apply_tables(**result);
}

Result<bool> ContentTracker::apply(const RpcMessage& notification) {
  if (notification.kind != RpcMessage::Kind::kNotification || notification.method != "update")
    return false;
  const json::array* const params =
      notification.params == nullptr ? nullptr : notification.params->if_array();
  if (params == nullptr || params->size() != 2)
    return fail(Errc::kProtocol, "an update without its two params");
  const Digest before = sum_;
  const Result<void> applied = apply_tables((*params)[1]);
  if (!applied) return std::unexpected(applied.error());
  return sum_ != before;
}

Result<void> ContentTracker::apply_tables(const json::value& tables) {
  if (!tables.is_object()) return fail(Errc::kProtocol, "tables that are no object");
  for (const auto& [table, rows] : tables.get_object()) {
    if (!rows.is_object()) return fail(Errc::kProtocol, "rows that are no object");
    for (const auto& [uuid, change] : rows.get_object()) {
      const Result<void> applied = apply_row(table, uuid, change);
      if (!applied) return applied;
    }
  }
  return {};
}

Result<void> ContentTracker::apply_row(std::string_view table, std::string_view uuid,
                                       const json::value& change) {
  const json::object* const fields = change.if_object();
  if (fields == nullptr) return fail(Errc::kProtocol, "a row that is no object");
  const json::value* const now = fields->if_contains("new");
  if (now != nullptr && !now->is_object())
    return fail(Errc::kProtocol, "a new row that is no object");
  if (now == nullptr && fields->if_contains("old") == nullptr)
    return fail(Errc::kProtocol, "a row that is neither old nor new");
  const Digest name = hash_of(fmt::format("{}\n{}", table, uuid));
  const RowKey key = {name.high, name.low};
  const auto known = rows_.find(key);
  if (known != rows_.end()) {
    subtract(known->second);
    rows_.erase(known);
  }
  if (now == nullptr) return {};
  if (rows_.size() >= kMostRows) return fail(Errc::kLimit, "more than {} rows", kMostRows);
  const Digest hash = hash_of(table, uuid, now->get_object());
  rows_.emplace(key, hash);
  add(hash);
  return {};
}

}  // namespace wardmote::codec
