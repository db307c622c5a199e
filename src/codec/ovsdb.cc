#include "codec/ovsdb.h"

#include <algorithm>
#include <boost/json/parse.hpp>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "codec/json_rpc.h"

namespace wardmote::codec {

namespace json = boost::json;

namespace {

constexpr std::string_view kNoTransaction = "00000000-0000-0000-0000-000000000000";
constexpr std::string_view kMonitorName = "wardmote";
constexpr std::string_view kBadId = "not a UUID";

/// `["set",[]]`: how OVSDB writes a missing optional value (RFC 7047 5.1).
bool is_empty_set(const json::value& value) noexcept {
  const json::array* const pair = value.if_array();
  if (pair == nullptr || pair->size() != 2 || !(*pair)[0].is_string() || !(*pair)[1].is_array())
    return false;
  return (*pair)[0].get_string() == "set" && (*pair)[1].get_array().empty();
}

bool read_uuid(std::string& into, const json::value& value) {
  if (is_empty_set(value)) {
    into.clear();
    return true;
  }
  const json::array* const pair = value.if_array();
  if (pair == nullptr || pair->size() != 2 || !(*pair)[0].is_string() || !(*pair)[1].is_string())
    return false;
  if ((*pair)[0].get_string() != "uuid") return false;
  into = std::string_view((*pair)[1].get_string());
  return true;
}

bool read_index(std::optional<std::uint64_t>& into, const json::value& value) {
  into.reset();
  if (is_empty_set(value)) return true;
  boost::system::error_code failed;
  const auto number = value.to_number<std::uint64_t>(failed);
  if (failed || value.is_double()) return false;
  into = number;
  return true;
}

bool read_bool(bool& into, const json::value& value) {
  if (const bool* const flag = value.if_bool()) into = *flag;
  return value.is_bool();
}

bool read_string(std::string& into, const json::value& value) {
  if (const json::string* const text = value.if_string()) into = std::string_view(*text);
  return value.is_string();
}

/// Reads the columns that are present; other columns are ignored.
Result<void> read_columns(ServerRow& row, const json::object& columns) {
  for (const auto& [key, value] : columns) {
    bool good = true;
    if (key == "name") good = read_string(row.name, value);
    if (key == "model") good = read_string(row.model, value);
    if (key == "leader") good = read_bool(row.leader, value);
    if (key == "connected") good = read_bool(row.connected, value);
    if (key == "cid") good = read_uuid(row.cluster_id, value);
    if (key == "sid") good = read_uuid(row.server_id, value);
    if (key == "index") good = read_index(row.index, value);
    if (good) continue;
    const std::string_view why = key == "cid" || key == "sid" ? kBadId : "unexpected value";
    return fail(Errc::kProtocol, "_Server.Database: column {}: {}", std::string_view(key), why);
  }
  return {};
}

/// The rows of the first operation in a `transact` result; null when there are none.
const json::array* rows_of(const json::value& result) noexcept {
  const json::array* const operations = result.if_array();
  const json::object* const first =
      operations == nullptr || operations->empty() ? nullptr : operations->front().if_object();
  const json::value* const rows = first == nullptr ? nullptr : first->if_contains("rows");
  return rows == nullptr ? nullptr : rows->if_array();
}

constexpr std::size_t kLongestName = 64;

void take_name(std::vector<std::string>& names, std::string_view name) {
  const bool foreign = name.empty() || name == "_Server" || name.size() > kLongestName;
  if (!foreign && names.size() < kMostDatabases) names.emplace_back(name);
}

}  // namespace

std::string select_database_names() {
  return R"(["_Server",{"op":"select","table":"Database","where":[],"columns":["name"]}])";
}

Result<std::vector<std::string>> read_database_names(const RpcMessage& reply) {
  const Result<const json::value*> result = result_of(reply);
  if (!result) return with_context(result, "_Server.Database");
  const json::array* const rows = rows_of(**result);
  if (rows == nullptr) return fail(Errc::kProtocol, "_Server.Database: a reply without rows");
  std::vector<std::string> names;
  for (const json::value& row : *rows) {
    const json::object* const columns = row.if_object();
    const json::value* const name = columns == nullptr ? nullptr : columns->if_contains("name");
    if (name == nullptr || !name->is_string())
      return fail(Errc::kProtocol, "_Server.Database: a row without name");
    take_name(names, std::string_view(name->get_string()));
  }
  std::ranges::sort(names);
  return names;
}

Result<std::vector<std::string>> parse_database_names(std::string_view output) {
  boost::system::error_code failed;
  const json::value result = json::parse(json::string_view(output.data(), output.size()), failed);
  if (failed) return fail(Errc::kProtocol, "_Server.Database: JSON: {}", failed.message());
  RpcMessage reply;
  reply.result = &result;
  return read_database_names(reply);
}

std::vector<std::string> split_database_names(std::string_view lines) {
  std::vector<std::string> names;
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    take_name(names, trim(lines.substr(0, end)));
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  std::ranges::sort(names);
  return names;
}

std::string select_server_row(std::string_view database) {
  return fmt::format(R"(["_Server",{{"op":"select","table":"Database","where":[["name","==",{}]],)"
                     R"("columns":["model","leader","connected","cid","sid","index"]}}])",
                     json_string(database));
}

Result<std::optional<ServerRow>> read_select_result(const json::value& result) {
  const json::array* const rows = rows_of(result);
  if (rows == nullptr) return fail(Errc::kProtocol, "_Server.Database: a reply without rows");
  if (rows->empty()) return std::nullopt;
  const json::object* const columns = rows->front().if_object();
  if (columns == nullptr)
    return fail(Errc::kProtocol, "_Server.Database: a row that is not an object");
  // A select prints every column that was asked for; a missing one must not read as false.
  for (const std::string_view needed : {"leader", "connected", "cid", "sid", "index"}) {
    if (!columns->contains(needed))
      return fail(Errc::kProtocol, "_Server.Database: a row without {}", needed);
  }
  ServerRow row;
  const Result<void> read = read_columns(row, *columns);
  if (!read) return std::unexpected(read.error());
  return row;
}

Result<std::optional<ServerRow>> read_server_row(const RpcMessage& reply) {
  const Result<const json::value*> result = result_of(reply);
  if (!result) return with_context(result, "_Server.Database");
  return read_select_result(**result);
}

Result<std::optional<ServerRow>> parse_query_output(std::string_view output) {
  boost::system::error_code failed;
  const json::value result = json::parse(json::string_view(output.data(), output.size()), failed);
  if (failed) return fail(Errc::kProtocol, "_Server.Database: JSON: {}", failed.message());
  RpcMessage reply;
  reply.result = &result;
  return read_server_row(reply);
}

bool is_bad_id(const Error& error) noexcept {
  return error.code == Errc::kProtocol && error.context.ends_with(kBadId);
}

std::string_view method_of(MonitorFlavour flavour) noexcept {
  switch (flavour) {
    case MonitorFlavour::kMonitor: return "monitor";
    case MonitorFlavour::kMonitorCond: return "monitor_cond";
    case MonitorFlavour::kMonitorCondSince: return "monitor_cond_since";
  }
  return "monitor";
}

std::string watch_server_row(MonitorFlavour flavour, std::string_view database) {
  const bool conditional = flavour != MonitorFlavour::kMonitor;
  const std::string where =
      conditional ? fmt::format(R"(,"where":[["name","==",{}]])", json_string(database))
                  : std::string();
  const std::string since = flavour == MonitorFlavour::kMonitorCondSince
                                ? fmt::format(R"(,"{}")", kNoTransaction)
                                : std::string();
  return fmt::format(
      R"(["_Server","{}",{{"Database":[{{"columns":["name","model","leader","connected","cid","sid"]{}}}]}}{}])",
      kMonitorName, where, since);
}

Result<void> ServerRowTracker::begin(MonitorFlavour flavour, const RpcMessage& reply) {
  uuid_.clear();
  row_.reset();
  const Result<const json::value*> result = result_of(reply);
  if (!result) return with_context(result, "{}", method_of(flavour));
  const json::value* tables = *result;
  if (flavour == MonitorFlavour::kMonitorCondSince) {
    // [found, last transaction, updates]; the transaction of _Server is always zero.
    const json::array* const parts = tables->if_array();
    if (parts == nullptr || parts->size() != 3)
      return fail(Errc::kProtocol, "monitor_cond_since: not three results");
    tables = &(*parts)[2];
  }
  return apply_tables(*tables);
}

Result<bool> ServerRowTracker::apply(const RpcMessage& notification) {
  std::size_t at = 1;
  if (notification.method == "update3") {
    at = 2;
  } else if (notification.method != "update" && notification.method != "update2") {
    return false;
  }
  const json::array* const params =
      notification.params == nullptr ? nullptr : notification.params->if_array();
  if (params == nullptr || params->size() <= at)
    return fail(Errc::kProtocol, "{}: too few params", notification.method);
  const std::optional<ServerRow> before = row_;
  const Result<void> applied = apply_tables((*params)[at]);
  if (!applied) return with_context(applied, "{}", notification.method);
  return row_ != before;
}

Result<void> ServerRowTracker::apply_tables(const json::value& tables) {
  const json::object* const by_name = tables.if_object();
  if (by_name == nullptr) return fail(Errc::kProtocol, "table updates that are not an object");
  const json::value* const rows = by_name->if_contains("Database");
  if (rows == nullptr) return {};
  if (!rows->is_object()) return fail(Errc::kProtocol, "row updates that are not an object");
  for (const auto& [uuid, change] : rows->get_object()) {
    const Result<void> applied = apply_row(uuid, change);
    if (!applied) return applied;
  }
  return {};
}

/// One row update: {"initial"|"insert"|"new": row}, {"modify": columns}, {"delete": null}; in
/// `update` a deleted row has only "old".
Result<void> ServerRowTracker::apply_row(std::string_view uuid, const json::value& change) {
  const json::object* const fields = change.if_object();
  if (fields == nullptr) return fail(Errc::kProtocol, "a row update that is not an object");
  for (const std::string_view whole : {"initial", "insert", "new"}) {
    if (const json::value* const columns = fields->if_contains(whole))
      return place_row(uuid, *columns);
  }
  if (row_ && uuid == uuid_) {
    if (const json::value* const columns = fields->if_contains("modify")) {
      // All columns have at most one value, so "modify" has the new one (ovsdb-data.c
      // ovsdb_datum_diff).
      if (!columns->is_object()) return fail(Errc::kProtocol, "modify: not an object");
      return read_columns(*row_, columns->get_object());
    }
    if (fields->contains("delete") || fields->contains("old")) row_.reset();
  }
  return {};
}

/// A whole row, from which columns with their default value are omitted.
Result<void> ServerRowTracker::place_row(std::string_view uuid, const json::value& columns) {
  if (!columns.is_object()) return fail(Errc::kProtocol, "a row that is not an object");
  ServerRow row;
  const Result<void> read = read_columns(row, columns.get_object());
  if (!read) return read;
  if (row.name != database_) return {};
  uuid_ = uuid;
  row_ = std::move(row);
  return {};
}

}  // namespace wardmote::codec
