#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>

#include "runtime/http.h"

namespace wardmote::serve {

runtime::HttpResponse json_answer(const boost::json::object& body, int status = 200);

/// What went wrong, as everywhere in the API: {"error": {"status", "message"}}.
runtime::HttpResponse error_answer(int status, std::string_view message);

runtime::HttpResponse text_answer(std::string_view content_type, std::string_view text);

/// The value of the request header `name` (lower case); empty when there is none.
std::string_view header(const runtime::HttpRequest& request, std::string_view name);

}  // namespace wardmote::serve
