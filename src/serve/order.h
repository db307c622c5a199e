#pragma once

#include <boost/json/object.hpp>

#include <initializer_list>
#include <string>
#include <string_view>

#include "base/result.h"
#include "runtime/http.h"
#include "serve/access.h"

namespace wardmote::serve {

/// The body of an order of an authorised caller: a JSON object; an empty body is an empty object.
/// Each order has its `keys`, and may have `by`. kInvalid names a key that is unknown or comes
/// twice: a mistyped "cluster" must not select all clusters.
Result<boost::json::object> parse_order(const runtime::HttpRequest& request,
                                        std::initializer_list<std::string_view> keys);

/// The status for a failed order: 400, 404 (kMissing), 409 (kRejected) or 503.
runtime::HttpResponse order_refused(const Error& error);

/// A field of an order: text, at most 256 bytes; empty when absent. kInvalid.
Result<std::string> order_text(const boost::json::object& order, std::string_view key);

/// Who gives the order, as the agent records it: the name in the order and the authenticated name:
/// `ann (user:1000)`.
std::string order_by(const boost::json::object& order, const Who& who);

}  // namespace wardmote::serve
