#pragma once

#include <boost/json/object.hpp>

#include <string>
#include <string_view>

#include "base/result.h"
#include "runtime/http.h"

namespace wardmote::serve {

/// Orders change something, so they are taken only from who may open the unix socket: a TCP port
/// knows nobody, and a web page could send to it. kDenied else. The body is a JSON object; empty is
/// an empty one; kInvalid.
Result<boost::json::object> parse_order(const runtime::HttpRequest& request);

/// 403, 400, 404 (kMissing), 409 (kRejected) or 503 for what went wrong with an order.
runtime::HttpResponse order_refused(const Error& error);

/// A field of an order: text, at most 256 bytes; empty when absent. kInvalid.
Result<std::string> order_text(const boost::json::object& order, std::string_view key);

/// Who gives the order, as it will be written down: the name that the order itself carries and the
/// user that the kernel vouches for: `ann (uid 1000)`.
std::string order_by(const boost::json::object& order, const runtime::HttpRequest& request);

}  // namespace wardmote::serve
