#include "codec/grpc.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "codec/bytes.h"
#include "codec/http2_session.h"
#include "codec/protobuf.h"

namespace wardmote::codec {
namespace {

constexpr std::size_t kPrefix = 5;
constexpr std::size_t kQuoted = 120;
constexpr std::size_t kLongestMessage = 1024;
constexpr std::int64_t kMostUnits = 99'999'999;
/// Bytes that were read and are still kept.
constexpr std::size_t kMostRead = 64 << 10;

const std::string* find(const HeaderFields& headers, std::string_view name) {
  const auto found = std::ranges::find(headers, name, &HeaderField::name);
  return found == headers.end() ? nullptr : &found->value;
}

/// grpc-message is percent-encoded.
std::string percent_decoded(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size() && decoded.size() < kLongestMessage; ++i) {
    const auto byte =
        text[i] == '%' ? parse_number<std::uint8_t>(text.substr(i + 1, 2), 16) : std::nullopt;
    decoded += byte && i + 2 < text.size() ? static_cast<char>(*byte) : text[i];
    if (byte && i + 2 < text.size()) i += 2;
  }
  return decoded;
}

}  // namespace

HeaderFields grpc_headers(std::string_view scheme, std::string_view authority,
                          std::string_view path, std::optional<Duration> left) {
  HeaderFields headers = {{":method", "POST"},          {":scheme", std::string(scheme)},
                          {":path", std::string(path)}, {":authority", std::string(authority)},
                          {"te", "trailers"},           {"content-type", "application/grpc"}};
  if (left) {
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(*left).count();
    headers.push_back(
        {"grpc-timeout", fmt::format("{}m", std::clamp<std::int64_t>(ms, 1, kMostUnits))});
  }
  headers.push_back({"user-agent", "wardmote"});
  return headers;
}

std::string encode_grpc_message(std::string_view message) {
  std::string bytes(1, '\0');
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(message.size() >> shift);
  return bytes.append(message);
}

std::string encode_health_request(std::string_view service) {
  ProtoWriter request;
  request.bytes(1, service);
  return request.take();
}

Result<std::int64_t> parse_health_response(std::string_view data) {
  GrpcFramer framer(std::numeric_limits<std::size_t>::max());
  framer.feed(data);
  Result<std::optional<std::string>> message = framer.next();
  if (!message) return std::unexpected(message.error());
  if (!*message || !framer.empty())
    return fail(Errc::kProtocol, "a message that is cut, or more than one");
  std::int64_t serving = 0;  // left out when it is 0
  const Result<void> read = for_each_field(**message, [&](const ProtoField& field) {
    if (field.number == 1 && field.kind == ProtoField::Kind::kNumber) serving = field.integer();
    return Result<void>();
  });
  if (!read) return fail(Errc::kProtocol, "no HealthCheckResponse");
  return serving;
}

void GrpcFramer::feed(std::string_view data) {
  bytes_ += data;
}

Result<std::optional<std::string>> GrpcFramer::next() {
  const std::string_view rest = std::string_view(bytes_).substr(read_);
  if (rest.size() < kPrefix) return std::nullopt;
  if (rest.front() != 0)
    return fail(Errc::kProtocol, "a compressed message, though none was asked for");
  const std::size_t size = big_endian<std::uint32_t>(rest.substr(1));
  if (size > longest_) return fail(Errc::kLimit, "a message of {} bytes", size);
  if (rest.size() - kPrefix < size) return std::nullopt;
  std::string message(rest.substr(kPrefix, size));
  read_ += kPrefix + size;
  // Many small messages in one piece are not moved once for each.
  if (read_ == bytes_.size() || read_ > kMostRead) {
    bytes_.erase(0, read_);
    read_ = 0;
  }
  return message;
}

Result<std::optional<GrpcStatus>> find_grpc_status(const HeaderFields& headers) {
  const std::string* const status = find(headers, "grpc-status");
  if (status == nullptr) return std::nullopt;
  if (std::ranges::count(headers, "grpc-status", &HeaderField::name) > 1)
    return fail(Errc::kProtocol, "more than one grpc-status");
  const auto code = parse_number<std::int64_t>(*status);
  if (!code || fmt::format("{}", *code) != *status || *code < 0)
    return fail(Errc::kProtocol, "grpc-status '{}'", escape_control(*status, kQuoted));
  const std::string* const message = find(headers, "grpc-message");
  return GrpcStatus{*code, message == nullptr ? std::string() : percent_decoded(*message)};
}

Result<void> check_grpc_headers(const HeaderFields& headers) {
  const std::string* const status = find(headers, ":status");
  if (status == nullptr) return fail(Errc::kProtocol, "an answer without a status");
  if (*status != "200")
    return fail(Errc::kRejected, "HTTP status {}", escape_control(*status, kQuoted));
  const std::string* const type = find(headers, "content-type");
  if (type == nullptr || !type->starts_with("application/grpc")) {
    return fail(Errc::kRejected, "no gRPC: content-type {}",
                type == nullptr ? "missing" : escape_control(*type, kQuoted));
  }
  return {};
}

namespace {

/// A status before the message, beside the one after it.
bool has_early_status(const Http2Call& call) {
  if (call.trailers.empty()) return false;
  const Result<std::optional<GrpcStatus>> early = find_grpc_status(call.headers);
  return !early || *early;
}

}  // namespace

Result<GrpcStatus> read_grpc_status(const Http2Call& call) {
  if (call.failure) return std::unexpected(*call.failure);
  // An answer without a message has its status in its headers.
  Result<std::optional<GrpcStatus>> status =
      find_grpc_status(call.trailers.empty() ? call.headers : call.trailers);
  if (!status) return std::unexpected(status.error());
  if (has_early_status(call)) return fail(Errc::kProtocol, "more than one grpc-status");
  if (!*status) return fail(Errc::kProtocol, "the call ended without a grpc-status");
  return **std::move(status);
}

}  // namespace wardmote::codec
