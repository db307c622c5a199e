#include "serve/order.h"

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "runtime/http.h"
#include "serve/access.h"
#include "serve/answer.h"

namespace wardmote::serve {

namespace json = boost::json;
using runtime::HttpRequest;
using runtime::HttpResponse;

namespace {

constexpr std::size_t kLongestText = 256;

int status_of(Errc code) {
  switch (code) {
    case Errc::kInvalid: return 400;
    case Errc::kMissing: return 404;
    case Errc::kRejected: return 409;
    default: return 503;
  }
}

}  // namespace

Result<json::object> parse_order(const HttpRequest& request) {
  if (request.body.empty()) return json::object();
  boost::system::error_code broken;
  json::value value = json::parse(request.body, broken);
  if (broken || !value.is_object()) return fail(Errc::kInvalid, "the body is no JSON object");
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
  const Result<std::string> named = order_text(order, "by");
  if (!named || named->empty()) return who.name;
  return fmt::format("{} ({})", escape_control(*named, 64), who.name);
}

}  // namespace wardmote::serve
