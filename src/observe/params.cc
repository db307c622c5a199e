#include "observe/params.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/text.h"
#include "observe/kinds.h"
#include "runtime/endpoint.h"

namespace wardmote::observe {
namespace {

struct Unit {
  std::string_view name;
  std::uint64_t bytes;
};
constexpr Unit kUnits[] = {{"", 1}, {"KiB", 1ULL << 10}, {"MiB", 1ULL << 20}, {"GiB", 1ULL << 30}};

/// PATH_MAX of Linux, less what a probe may append.
constexpr std::size_t kLongestPath = 4000;

std::optional<std::uint64_t> parse_bytes(std::string_view text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto count = parse_number<std::uint64_t>(text.substr(0, digits));
  if (!count) return std::nullopt;
  for (const Unit& unit : kUnits) {
    if (text.substr(digits) != unit.name) continue;
    if (*count > INT64_MAX / unit.bytes) return std::nullopt;
    return *count * unit.bytes;
  }
  return std::nullopt;
}

}  // namespace

Result<std::int64_t> integer_param(const Params& params, std::string_view name, std::int64_t least,
                                   std::int64_t most, std::int64_t otherwise) {
  const std::int64_t value = param<std::int64_t>(params, name).value_or(otherwise);
  if (value < least || value > most)
    return fail(Errc::kInvalid, "{}: {} is not from {} to {}", name, value, least, most);
  return value;
}

Result<std::optional<std::uint64_t>> bytes_param(const Params& params, std::string_view name) {
  const auto text = param<std::string>(params, name);
  if (!text) return std::optional<std::uint64_t>();
  const std::optional<std::uint64_t> bytes = parse_bytes(*text);
  if (!bytes)
    return fail(Errc::kInvalid, "{}: '{}' is not a size; write for example 4096, 64KiB or 2GiB",
                name, escape_control(*text, 64));
  return bytes;
}

Result<std::string> path_param(const Params& params, std::string_view name) {
  const auto text = param<std::string>(params, name);
  if (!text) return fail(Errc::kInvalid, "{}: missing", name);
  const bool printable = std::ranges::none_of(
      *text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
  if (!text->starts_with('/') || !printable || text->size() > kLongestPath)
    return fail(Errc::kInvalid, "{}: '{}' is not an absolute path", name,
                escape_control(*text, 64));
  return *text;
}

Result<std::optional<runtime::Endpoint>> unix_socket_param(const Params& params,
                                                           std::string_view name) {
  const auto text = param<std::string>(params, name);
  if (!text) return std::nullopt;
  Result<runtime::Endpoint> endpoint = runtime::parse_endpoint(*text);
  if (!endpoint) return with_context(endpoint, "{}", name);
  if (endpoint->kind != runtime::Endpoint::Kind::kUnix)
    return fail(Errc::kInvalid, "{}: {} is not a unix socket", name, to_string(*endpoint));
  return *std::move(endpoint);
}

}  // namespace wardmote::observe
