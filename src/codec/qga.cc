#include "codec/qga.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/parse_options.hpp>
#include <boost/json/value.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "codec/json_fields.h"

namespace wardmote::codec {

namespace json = boost::json;

namespace {

constexpr std::size_t kDeepest = 16;
constexpr std::size_t kLongestText = 1024;
constexpr std::size_t kMostFileSystems = 64;

std::string short_text(const json::object& object, std::string_view key) {
  return text_in(object, key).value_or("").substr(0, kLongestText);
}

/// The object that the reply is.
Result<json::object> object_of(std::string_view reply) {
  if (reply.size() > kLongestQgaReply)
    return fail(Errc::kLimit, "guest agent: a reply of {} bytes", reply.size());
  while (reply.starts_with('\xFF')) reply.remove_prefix(1);
  boost::system::error_code broken;
  json::value value = json::parse(reply, broken, {}, {.max_depth = kDeepest});
  if (broken || !value.is_object())
    return fail(Errc::kProtocol, "guest agent: the reply is no JSON object");
  return std::move(value.as_object());
}

/// The returned value; kRejected when it is an error instead.
Result<json::value> returned_by(std::string_view reply) {
  auto object = object_of(reply);
  if (!object) return std::unexpected(object.error());
  if (const json::value* const error = object->if_contains("error")) {
    const json::object* const what = error->if_object();
    return fail(Errc::kRejected, "guest agent: {}",
                what == nullptr ? "an error" : escape_control(short_text(*what, "desc"), 256));
  }
  json::value* const returned = object->if_contains("return");
  if (returned == nullptr)
    return fail(Errc::kProtocol, "guest agent: the reply has neither 'return' nor 'error'");
  return std::move(*returned);
}

std::uint64_t size_in(const json::object& object, std::string_view key) {
  const json::value* const value = object.if_contains(key);
  if (value == nullptr) return 0;
  if (const std::uint64_t* const number = value->if_uint64()) return *number;
  const std::int64_t* const number = value->if_int64();
  return number != nullptr && *number > 0 ? static_cast<std::uint64_t>(*number) : 0;
}

}  // namespace

Result<QgaReply> parse_qga_reply(std::string_view reply) {
  const auto object = object_of(reply);
  if (!object) return std::unexpected(object.error());
  QgaReply parsed;
  if (const json::value* const error = object->if_contains("error")) {
    const json::object* const what = error->if_object();
    if (what == nullptr) return fail(Errc::kProtocol, "guest agent: its error is no object");
    parsed.refusal = {short_text(*what, "class"), short_text(*what, "desc")};
    return parsed;
  }
  const json::value* const returned = object->if_contains("return");
  if (returned == nullptr)
    return fail(Errc::kProtocol, "guest agent: the reply has neither 'return' nor 'error'");
  if (const json::string* const text = returned->if_string())
    parsed.text = std::string(*text).substr(0, kLongestText);
  if (const std::int64_t* const number = returned->if_int64()) parsed.number = *number;
  return parsed;
}

Result<bool> parse_freeze_status(std::string_view reply) {
  const auto returned = returned_by(reply);
  if (!returned) return std::unexpected(returned.error());
  const json::string* const text = returned->if_string();
  if (text != nullptr && *text == "frozen") return true;
  if (text != nullptr && *text == "thawed") return false;
  return fail(Errc::kProtocol, "guest agent: neither 'frozen' nor 'thawed'");
}

Result<std::chrono::nanoseconds> parse_guest_time(std::string_view reply) {
  const auto returned = returned_by(reply);
  if (!returned) return std::unexpected(returned.error());
  const std::int64_t* const number = returned->if_int64();
  if (number == nullptr || *number < 0)
    return fail(Errc::kProtocol, "guest agent: its time is no number of nanoseconds");
  return std::chrono::nanoseconds(*number);
}

Result<std::vector<QgaFileSystem>> parse_fsinfo(std::string_view reply) {
  const auto returned = returned_by(reply);
  if (!returned) return std::unexpected(returned.error());
  const json::array* const entries = returned->if_array();
  if (entries == nullptr) return fail(Errc::kProtocol, "guest agent: no list of file systems");
  std::vector<QgaFileSystem> all;
  for (const json::value& entry : *entries) {
    const json::object* const one = entry.if_object();
    if (one == nullptr) continue;
    if (all.size() == kMostFileSystems) break;
    all.push_back({short_text(*one, "mountpoint"), short_text(*one, "type"),
                   size_in(*one, "used-bytes"), size_in(*one, "total-bytes")});
  }
  return all;
}

}  // namespace wardmote::codec
