#include "serve/order.h"

#include <algorithm>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
#include <expected>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "codec/json_keys.h"
#include "runtime/http.h"
#include "serve/access.h"
#include "serve/answer.h"

namespace wardmote::serve {

namespace json = boost::json;
using runtime::HttpRequest;
using runtime::HttpResponse;

namespace {

constexpr std::size_t kLongestText = 256;
constexpr std::size_t kLongestKey = 64;
constexpr std::size_t kMostNamed = 8;
constexpr std::string_view kBy = "by";

int status_of(Errc code) {
  switch (code) {
    case Errc::kInvalid: return 400;
    case Errc::kMissing: return 404;
    case Errc::kRejected: return 409;
    default: return 503;
  }
}

}  // namespace

Result<json::object> parse_order(const HttpRequest& request,
                                 std::initializer_list<std::string_view> keys) {
  if (request.body.empty()) return json::object();
  boost::system::error_code broken;
  json::value value = json::parse(request.body, broken);
  if (broken || !value.is_object()) return fail(Errc::kInvalid, "the body is not a JSON object");
  std::vector<std::string_view> known(keys);
  known.emplace_back(kBy);
  std::vector<std::string> others;
  for (const auto& [key, ignored] : value.get_object()) {
    if (std::ranges::find(known, std::string_view(key)) == known.end())
      others.push_back(fmt::format("'{}'", escape_control(key, kLongestKey)));
  }
  if (!others.empty()) {
    return fail(Errc::kInvalid, "this order has no {}; it has {}",
                fmt::join(std::span(others).first(std::min(others.size(), kMostNamed)), ", "),
                fmt::join(known, ", "));
  }
  if (const auto twice = codec::key_given_twice(request.body))
    return fail(Errc::kInvalid, "'{}' is given twice", escape_control(*twice, kLongestKey));
  const Result<std::string> by = order_text(value.get_object(), kBy);
  if (!by) return std::unexpected(by.error());
  return std::move(value.get_object());
}

HttpResponse order_refused(const Error& error) {
  return error_answer(status_of(error.code), error.context);
}

Result<std::string> order_text(const json::object& order, std::string_view key) {
  const json::value* const value = order.if_contains(key);
  if (value == nullptr) return std::string();
  const json::string* const text = value->if_string();
  if (text == nullptr || text->size() > kLongestText) {
    return fail(Errc::kInvalid, "'{}' is not a text of at most {} bytes", key, kLongestText);
  }
  return std::string(*text);
}

std::string order_by(const json::object& order, const Who& who) {
  const Result<std::string> named = order_text(order, kBy);
  if (!named || named->empty()) return who.name;
  return fmt::format("{} ({})", escape_control(*named, 64), who.name);
}

}  // namespace wardmote::serve
