#include "codec/ovn_daemons.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "codec/json_fields.h"
#include "codec/json_rpc.h"

namespace wardmote::codec {
namespace {

namespace json = boost::json;

constexpr std::size_t kLongestName = 128;

std::unexpected<Error> strange(std::string_view what, std::string_view text) {
  return fail(Errc::kProtocol, "{}: '{}'", what, escape_control(text, 64));
}

/// The rows of the operation `at` of a `transact`.
const json::array* rows_of(const json::value& result, std::size_t at) {
  const json::array* const operations = result.if_array();
  if (operations == nullptr || operations->size() <= at) return nullptr;
  const json::object* const operation = (*operations)[at].if_object();
  const json::value* const rows = operation == nullptr ? nullptr : operation->if_contains("rows");
  return rows == nullptr ? nullptr : rows->if_array();
}

std::string name_in(const json::object& row, std::string_view column) {
  return text_in(row, column).value_or("").substr(0, kLongestName);
}

}  // namespace

Result<std::string> parse_northd_status(std::string_view text) {
  std::string_view word = trim(text);
  if (!consume_prefix(word, "Status:")) return strange("status", text);
  word = trim(word);
  for (const std::string_view known : {"active", "standby", "paused"}) {
    if (word == known) return std::string(word);
  }
  return strange("status", text);
}

Result<bool> parse_connection_status(std::string_view text) {
  const std::string_view words = trim(text);
  if (words == "connected") return true;
  if (words == "not connected") return false;
  return strange("connection status", text);
}

Result<bool> parse_debug_status(std::string_view text) {
  const std::string_view word = trim(text);
  if (word == "paused") return true;
  if (word == "running") return false;
  return strange("debug/status", text);
}

Result<std::string> parse_version(std::string_view text) {
  const std::string_view line = trim(take_until(text, '\n'));
  const std::size_t end = line.rfind(") ");
  if (end == std::string_view::npos || line.size() > kLongestName) return strange("version", line);
  return std::string(line.substr(end + 2));
}

std::string select_vswitch() {
  return R"(["Open_vSwitch",)"
         R"({"op":"select","table":"Open_vSwitch","where":[],"columns":["next_cfg","cur_cfg"]},)"
         R"({"op":"select","table":"Interface","where":[["error","!=",["set",[]]]],)"
         R"("columns":["name","error"]}])";
}

Result<std::optional<VswitchRow>> read_vswitch(const RpcMessage& reply) {
  const Result<const json::value*> result = result_of(reply);
  if (!result) return std::unexpected(result.error());
  const json::array* const global = rows_of(**result, 0);
  const json::array* const interfaces = rows_of(**result, 1);
  if (global == nullptr || interfaces == nullptr)
    return fail(Errc::kProtocol, "a reply without rows");
  if (global->empty()) return std::optional<VswitchRow>();
  const json::object* const columns = global->front().if_object();
  const auto next = columns == nullptr ? std::nullopt : integer_in(*columns, "next_cfg");
  const auto current = columns == nullptr ? std::nullopt : integer_in(*columns, "cur_cfg");
  if (!next || !current)
    return fail(Errc::kProtocol, "Open_vSwitch: a row without next_cfg and cur_cfg");
  VswitchRow row;
  row.next_cfg = *next;
  row.cur_cfg = *current;
  row.faulty = interfaces->size();
  for (const json::value& each : *interfaces) {
    if (row.errors.size() == kMostInterfaceErrors) break;
    const json::object* const one = each.if_object();
    if (one == nullptr) return fail(Errc::kProtocol, "Interface: a row that is not an object");
    row.errors.push_back(fmt::format("{}: {}", name_in(*one, "name"), name_in(*one, "error")));
  }
  return row;
}

}  // namespace wardmote::codec
