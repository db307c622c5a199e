#include "net/http_message.h"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/status.hpp>
#include <boost/beast/http/string_body.hpp>
#include <cstddef>
#include <cstdint>
#include <expected>
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

/// The end that every chunked body has. Beast (1.81, basic_parser.ipp) asserts that this many bytes
/// are present after it has seen the "0", and a peer that sends them in pieces would end the agent.
constexpr std::string_view kLastChunk = "0\r\n\r\n";

/// `line_bytes`: the longest line to wait for. Beast limits the header, but it waits for the end of
/// a chunk's line (its size and extensions) as long as bytes arrive.
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

/// An encoded slash would be hidden from a proxy before us that checks paths.
bool hides_slash(std::string_view path) noexcept {
  return path.contains("%2f") || path.contains("%2F");
}

/// RFC 9112 3.2: 400 to an HTTP/1.1 request without Host, and to any with more than one.
template <class Fields>
bool names_one_host(const Fields& fields, unsigned version) {
  const std::size_t hosts = fields.count(http::field::host);
  return hosts == 1 || (hosts == 0 && version < 11);
}

/// Beast accepts `chunked` only, and would read a body of any other coding as the next request.
template <class Fields>
Result<void> check_coding(const Fields& fields, unsigned version) {
  const std::size_t given = fields.count(http::field::transfer_encoding);
  if (given == 0) return {};
  if (version < 11) return fail(Errc::kProtocol, "HTTP: a Transfer-Encoding before HTTP/1.1");
  const bool known =
      given == 1 && boost::beast::iequals(fields[http::field::transfer_encoding], "chunked");
  if (known) return {};
  return fail(Errc::kRejected, "only the Transfer-Encoding chunked is known here");
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

Result<void> HttpRequestReader::feed_header(std::string& bytes) {
  if (impl_->parser.is_header_done()) return {};
  impl_->parser.eager(false);
  boost::system::error_code error;
  while (!error && !impl_->parser.is_header_done() && !bytes.empty()) {
    const std::size_t used = impl_->parser.put(boost::asio::buffer(bytes), error);
    bytes.erase(0, used);
    if (used == 0) break;
  }
  impl_->parser.eager(true);
  if (error == http::error::need_more) {
    error =
        bytes.size() > impl_->line_bytes ? http::error::header_limit : boost::system::error_code();
  }
  impl_->body_too_long = error == http::error::body_limit;
  return to_result(error);
}

bool HttpRequestReader::body_follows() const {
  return impl_->parser.is_header_done() && !impl_->parser.is_done();
}

std::size_t HttpRequestReader::body_bytes() const {
  // Beast reserves as much memory as Content-Length announces.
  const std::size_t announced = impl_->parser.content_length().value_or(0);
  return std::max(announced, impl_->parser.get().body().capacity());
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

Result<HttpRequest> HttpRequestReader::head() const {
  const auto& message = impl_->parser.get();
  if (!names_one_host(message, message.version()))
    return fail(Errc::kProtocol, "HTTP: not one Host");
  const Result<void> coded = check_coding(message, message.version());
  if (!coded) return std::unexpected(coded.error());
  std::string_view query(message.target().data(), message.target().size());
  query = origin_form(query);
  const std::string_view escaped = take_until(query, '?');
  if (hides_slash(escaped)) return fail(Errc::kProtocol, "HTTP: an escaped '/' in the path");
  std::optional<std::string> path = percent_decode(escaped);
  if (!path || (!path->starts_with('/') && *path != "*"))
    return fail(Errc::kProtocol, "HTTP: not a path");
  HttpRequest request;
  request.method = message.method_string();
  request.path = std::move(*path);
  request.query = query;
  request.headers = copy_headers(message);
  return request;
}

Result<HttpRequest> HttpRequestReader::take() {
  Result<HttpRequest> request = head();
  if (request) request->body = std::move(impl_->parser.release().body());
  return request;
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
    const std::size_t shared = response.shared ? response.shared->size() : 0;
    append_header(bytes, "Content-Length", std::to_string(response.body.size() + shared));
  }
  if (!form.keep_alive) append_header(bytes, "Connection", "close");
  for (const auto& [name, value] : response.headers) append_header(bytes, name, value);
  bytes += "\r\n";
  if (!form.head_only) bytes += response.body;
  return bytes;
}

}  // namespace wardmote::net
