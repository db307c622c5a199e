#include "serve/answer.h"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <string_view>
#include <utility>

#include "runtime/http.h"

namespace wardmote::serve {

namespace json = boost::json;
using runtime::HttpRequest;
using runtime::HttpResponse;

HttpResponse json_answer(const json::object& body, int status) {
  HttpResponse response;
  response.status = status;
  response.content_type = "application/json";
  response.body = json::serialize(body) + "\n";
  return response;
}

HttpResponse error_answer(int status, std::string_view message) {
  json::object details;
  details["status"] = status;
  details["message"] = message;
  json::object body;
  body["error"] = std::move(details);
  return json_answer(body, status);
}

HttpResponse text_answer(std::string_view content_type, std::string_view text) {
  HttpResponse response;
  response.content_type = content_type;
  response.body = text;
  return response;
}

std::string_view header(const HttpRequest& request, std::string_view name) {
  for (const auto& [key, value] : request.headers) {
    if (key == name) return value;
  }
  return {};
}

}  // namespace wardmote::serve
