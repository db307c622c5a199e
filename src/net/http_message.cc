#include "net/http_message.h"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/status.hpp>
#include <boost/beast/http/string_body.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/percent.h"
#include "base/result.h"
#include "base/text.h"
#include "net/http_text.h"
#include "runtime/http.h"

namespace wardmote::net {

namespace http = boost::beast::http;
using runtime::HttpLimits;
using runtime::HttpRequest;
using runtime::HttpResponse;

namespace {

template <class Parser>
void configure(Parser& parser, const HttpLimits& limits) {
  parser.header_limit(static_cast<std::uint32_t>(limits.header_bytes));
  parser.body_limit(limits.body_bytes);
  parser.eager(true);
}

/// What every chunked body still has to end with. Beast (1.81, basic_parser.ipp) asserts that so
/// much is there once it has seen the "0", and would end the agent for a peer that sends it in
/// pieces.
constexpr std::string_view kLastChunk = "0\r\n\r\n";

/// `line_bytes`: the longest line that may be waited for. Beast counts the header, but waits for
/// the end of a chunk's line (its size and extensions) as long as bytes come.
template <class Parser>
boost::system::error_code feed_parser(Parser& parser, std::string& bytes, std::size_t line_bytes) {
  while (!parser.is_done() && !bytes.empty()) {
    if (parser.is_header_done() && parser.chunked() && bytes.size() < kLastChunk.size()) return {};
    boost::system::error_code error;
    const std::size_t used = parser.put(boost::asio::buffer(bytes), error);
    bytes.erase(0, used);
    if (error == http::error::need_more) {
      if (bytes.size() > line_bytes) return http::error::header_limit;
      return {};
    }
    if (error || used == 0) return error;
  }
  return {};
}

Result<void> to_result(const boost::system::error_code& error) {
  if (!error) return {};
  const bool limit = error == http::error::header_limit || error == http::error::body_limit;
  return fail(limit ? Errc::kLimit : Errc::kProtocol, "HTTP: {}", error.message());
}

template <class Fields>
std::vector<std::pair<std::string, std::string>> copy_headers(const Fields& fields) {
  std::vector<std::pair<std::string, std::string>> headers;
  for (const auto& field : fields)
    headers.emplace_back(ascii_lower(field.name_string()), std::string(field.value()));
  return headers;
}

/// `target` without scheme and authority, as a proxy would send it (RFC 9112 3.2.2).
std::string_view origin_form(std::string_view target) noexcept {
  if (!consume_prefix(target, "http://")) return target;
  const std::size_t slash = target.find('/');
  return slash == std::string_view::npos ? "/" : target.substr(slash);
}

}  // namespace

struct HttpRequestReader::Impl {
  explicit Impl(std::size_t longest_line) : line_bytes(longest_line) {}

  std::size_t line_bytes;
  http::request_parser<http::string_body> parser;
  bool expectation_seen = false;
  bool body_too_long = false;
};

HttpRequestReader::HttpRequestReader(const HttpLimits& limits)
    : impl_(std::make_unique<Impl>(limits.header_bytes)) {
  configure(impl_->parser, limits);
}
HttpRequestReader::~HttpRequestReader() = default;

Result<void> HttpRequestReader::feed(std::string& bytes) {
  const boost::system::error_code error = feed_parser(impl_->parser, bytes, impl_->line_bytes);
  impl_->body_too_long = error == http::error::body_limit;
  return to_result(error);
}

bool HttpRequestReader::done() const {
  return impl_->parser.is_done();
}
bool HttpRequestReader::body_too_long() const {
  return impl_->body_too_long;
}
bool HttpRequestReader::keep_alive() const {
  return impl_->parser.keep_alive();
}

bool HttpRequestReader::take_expectation() {
  if (impl_->expectation_seen || !impl_->parser.is_header_done() || impl_->parser.is_done())
    return false;
  impl_->expectation_seen = true;
  const auto& message = impl_->parser.get();
  return message.version() >= 11 &&
         boost::beast::iequals(message[http::field::expect], "100-continue");
}

Result<HttpRequest> HttpRequestReader::take() {
  auto message = impl_->parser.release();
  // RFC 9112 3.2: a server answers 400 to an HTTP/1.1 request without Host.
  if (message.version() >= 11 && message.find(http::field::host) == message.end()) {
    return fail(Errc::kProtocol, "HTTP: no Host");
  }
  std::string_view query(message.target().data(), message.target().size());
  query = origin_form(query);
  std::optional<std::string> path = percent_decode(take_until(query, '?'));
  if (!path || (!path->starts_with('/') && *path != "*"))
    return fail(Errc::kProtocol, "HTTP: not a path");
  HttpRequest request;
  request.method = message.method_string();
  request.path = std::move(*path);
  request.query = query;
  request.headers = copy_headers(message);
  request.body = std::move(message.body());
  return request;
}

struct HttpResponseReader::Impl {
  explicit Impl(std::size_t longest_line) : line_bytes(longest_line) {}

  std::size_t line_bytes;
  http::response_parser<http::string_body> parser;
};

HttpResponseReader::HttpResponseReader(const HttpLimits& limits, bool to_head)
    : impl_(std::make_unique<Impl>(limits.header_bytes)) {
  configure(impl_->parser, limits);
  impl_->parser.skip(to_head);
}
HttpResponseReader::~HttpResponseReader() = default;

Result<void> HttpResponseReader::feed(std::string& bytes) {
  return to_result(feed_parser(impl_->parser, bytes, impl_->line_bytes));
}

bool HttpResponseReader::done() const {
  return impl_->parser.is_done();
}

Result<void> HttpResponseReader::feed_end() {
  // Beast asserts that there was something.
  if (!impl_->parser.got_some()) return fail(Errc::kClosed, "HTTP: no answer");
  boost::system::error_code error;
  impl_->parser.put_eof(error);
  if (error) return fail(Errc::kClosed, "HTTP: in the middle of the answer");
  return {};
}

HttpResponse HttpResponseReader::take() {
  auto message = impl_->parser.release();
  HttpResponse response;
  response.status = static_cast<int>(message.result_int());
  response.content_type = message[http::field::content_type];
  response.headers = copy_headers(message);
  response.body = std::move(message.body());
  return response;
}

std::string encode_response(const HttpResponse& response, const ResponseForm& form) {
  const auto reason =
      http::obsolete_reason(http::int_to_status(static_cast<unsigned>(response.status)));
  std::string bytes = fmt::format("HTTP/1.1 {} {}\r\n", response.status,
                                  std::string_view(reason.data(), reason.size()));
  bytes.reserve(bytes.size() + response.body.size() + 256);
  append_header(bytes, "Date", http_date(form.date));
  append_header(bytes, "Content-Type", response.content_type);
  // A body without a length ends with the connection (RFC 9112 6.3).
  if (!response.stream) {
    append_header(bytes, "Content-Length", std::to_string(response.body.size()));
  }
  if (!form.keep_alive) append_header(bytes, "Connection", "close");
  for (const auto& [name, value] : response.headers) append_header(bytes, name, value);
  bytes += "\r\n";
  if (!form.head_only) bytes += response.body;
  return bytes;
}

std::string encode_request(const HttpRequest& request, std::string_view host) {
  std::string bytes = fmt::format("{} {}", request.method, percent_encode_path(request.path));
  if (!request.query.empty()) bytes += "?" + request.query;
  bytes += " HTTP/1.1\r\n";
  append_header(bytes, "Host", host);
  append_header(bytes, "Connection", "close");
  if (!request.body.empty())
    append_header(bytes, "Content-Length", std::to_string(request.body.size()));
  for (const auto& [name, value] : request.headers) append_header(bytes, name, value);
  return bytes + "\r\n" + request.body;
}

}  // namespace wardmote::net
