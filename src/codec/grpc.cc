#include "codec/grpc.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "codec/bytes.h"
#include "codec/http2_session.h"

namespace wardmote::codec {
namespace {

constexpr std::size_t kPrefix = 5;
constexpr std::size_t kQuoted = 120;
constexpr std::size_t kLongestMessage = 1024;
constexpr std::int64_t kMostUnits = 99'999'999;

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

std::optional<std::uint64_t> read_varint(std::string_view& rest) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 70 && !rest.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(rest.front());
    rest.remove_prefix(1);
    if (shift < 64) value |= std::uint64_t{byte & 0x7fU} << shift;
    if ((byte & 0x80) == 0) return value;
  }
  return std::nullopt;
}

/// Skips the value of a field that is not needed.
bool skip_value(std::string_view& rest, unsigned wire_type) {
  std::optional<std::uint64_t> length;
  switch (wire_type) {
    case 0: return read_varint(rest).has_value();
    case 1: length = 8; break;
    case 2: length = read_varint(rest); break;
    case 5: length = 4; break;
    default: return false;
  }
  if (!length || *length > rest.size()) return false;
  rest.remove_prefix(*length);
  return true;
}

}  // namespace

HeaderFields grpc_headers(std::string_view scheme, std::string_view authority,
                          std::string_view path, Duration left) {
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(left).count();
  return {{":method", "POST"},
          {":scheme", std::string(scheme)},
          {":path", std::string(path)},
          {":authority", std::string(authority)},
          {"te", "trailers"},
          {"content-type", "application/grpc"},
          {"grpc-timeout", fmt::format("{}m", std::clamp<std::int64_t>(ms, 1, kMostUnits))},
          {"user-agent", "wardmote"}};
}

std::string encode_grpc_message(std::string_view message) {
  std::string bytes(1, '\0');
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(message.size() >> shift);
  return bytes.append(message);
}

std::string encode_health_request(std::string_view service) {
  std::string message;
  if (service.empty()) return message;
  message += '\x0a';
  std::size_t size = service.size();
  for (; size >= 0x80; size >>= 7) message += static_cast<char>(0x80 | (size & 0x7f));
  message += static_cast<char>(size);
  return message.append(service);
}

Result<std::int64_t> parse_health_response(std::string_view data) {
  if (data.size() < kPrefix || data.size() - kPrefix != big_endian<std::uint32_t>(data.substr(1)))
    return fail(Errc::kProtocol, "a message that is cut, or more than one");
  if (data.front() != 0)
    return fail(Errc::kProtocol, "a compressed message, though none was asked for");
  std::string_view rest = data.substr(kPrefix);
  std::int64_t serving = 0;  // left out when it is 0
  while (!rest.empty()) {
    const auto key = read_varint(rest);
    if (!key) return fail(Errc::kProtocol, "no HealthCheckResponse");
    if (*key == 0x08) {
      const auto value = read_varint(rest);
      if (!value) return fail(Errc::kProtocol, "no HealthCheckResponse");
      serving = static_cast<std::int64_t>(*value);
    } else if ((*key >> 3) == 0 || !skip_value(rest, *key & 7U)) {
      return fail(Errc::kProtocol, "no HealthCheckResponse");
    }
  }
  return serving;
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

}  // namespace wardmote::codec
