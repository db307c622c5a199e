#pragma once

#include <boost/json/object.hpp>

#include <string>
#include <string_view>

#include "base/result.h"
#include "runtime/http.h"
#include "serve/access.h"

namespace wardmote::serve {

/// The body of an order, whom the API has let in already: a JSON object; empty is an empty one.
/// kInvalid.
Result<boost::json::object> parse_order(const runtime::HttpRequest& request);

/// 400, 404 (kMissing), 409 (kRejected) or 503 for what went wrong with an order.
runtime::HttpResponse order_refused(const Error& error);

/// A field of an order: text, at most 256 bytes; empty when absent. kInvalid.
Result<std::string> order_text(const boost::json::object& order, std::string_view key);

/// Who gives the order, as it will be written down: the name that the order itself carries and the
/// one that is vouched for: `ann (user:1000)`.
std::string order_by(const boost::json::object& order, const Who& who);

}  // namespace wardmote::serve
