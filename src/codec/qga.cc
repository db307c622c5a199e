#include "codec/qga.h"

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/parse_options.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace wardmote::codec {

namespace json = boost::json;

namespace {

constexpr std::size_t kDeepest = 16;
constexpr std::size_t kLongestText = 1024;

std::string text_in(const json::object& object, std::string_view key) {
  const json::value* const value = object.if_contains(key);
  const json::string* const text = value == nullptr ? nullptr : value->if_string();
  return text == nullptr ? std::string() : std::string(*text).substr(0, kLongestText);
}

}  // namespace

Result<QgaReply> parse_qga_reply(std::string_view reply) {
  if (reply.size() > kLongestQgaReply)
    return fail(Errc::kLimit, "guest agent: a reply of {} bytes", reply.size());
  while (reply.starts_with('\xFF')) reply.remove_prefix(1);
  boost::system::error_code broken;
  const json::value value = json::parse(reply, broken, {}, {.max_depth = kDeepest});
  const json::object* const object = broken ? nullptr : value.if_object();
  if (object == nullptr) return fail(Errc::kProtocol, "guest agent: the reply is no JSON object");
  QgaReply parsed;
  if (const json::value* const error = object->if_contains("error")) {
    const json::object* const what = error->if_object();
    if (what == nullptr) return fail(Errc::kProtocol, "guest agent: its error is no object");
    parsed.refusal = {text_in(*what, "class"), text_in(*what, "desc")};
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

}  // namespace wardmote::codec
