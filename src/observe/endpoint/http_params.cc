#include "observe/endpoint/http_params.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "codec/url.h"
#include "judge/endpoint/http.h"
#include "observe/kinds.h"
#include "observe/params.h"

namespace wardmote::observe {
namespace {

constexpr auto kParams = std::to_array<ParamSpec>({
    {"url", ParamType::kText, true, "http://HOST[:PORT]/PATH; IPv6 in brackets"},
    {"status", ParamType::kList, false, "good statuses: 200, 200-399 (default: 200-399)"},
    {"body", ParamType::kText, false, "text that the first 64 KiB of the body must contain"},
    {"header", ParamType::kList, false, "request header: 'Host: example.org'"},
    {"head", ParamType::kFlag, false, "send HEAD instead of GET"},
    {"redirects", ParamType::kInteger, false,
     "how many redirects to follow, on the same host only (default: 5)"},
    {"keep_open", ParamType::kFlag, false, "keep the connection open between probes"},
    {"fresh_every", ParamType::kInteger, false,
     "with keep_open: every Nth probe opens a new connection (default: 10)"},
});

constexpr std::int64_t kMostRedirects = 20;
constexpr std::int64_t kMostLooks = 1'000'000;
constexpr int kLeastStatus = 100;
constexpr int kMostStatus = 999;

Result<judge::StatusRange> read_range(std::string_view text) {
  std::string_view rest = text;
  const auto first = parse_number<int>(take_until(rest, '-'));
  const auto last = text.contains('-') ? parse_number<int>(rest) : first;
  if (!first || !last || *first < kLeastStatus || *last > kMostStatus || *first > *last) {
    return fail(Errc::kInvalid, "status: '{}' is neither a status nor a range like 200-399",
                escape_control(text, 32));
  }
  return judge::StatusRange{*first, *last};
}

/// `Name: value`; the headers that frame a request are not allowed.
Result<void> check_header(std::string_view line) {
  const bool printable = std::ranges::none_of(
      line, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
  const std::size_t colon = line.find(':');
  const std::string_view name = line.substr(0, colon);
  if (!printable || colon == std::string_view::npos || name.empty() ||
      name.find_first_of(" \t\"(),/;<=>?@[\\]{}") != std::string_view::npos) {
    return fail(Errc::kInvalid, "header: '{}' is not like 'Name: value'", escape_control(line, 64));
  }
  for (const std::string_view ours : {"connection", "content-length", "transfer-encoding"}) {
    const bool same = std::ranges::equal(
        name, ours, [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a + 32 : a) == b; });
    if (same) return fail(Errc::kInvalid, "header: {} cannot be given", name);
  }
  return {};
}

}  // namespace

std::span<const ParamSpec> http_params() noexcept {
  return kParams;
}

Result<HttpTarget> read_http_target(const Params& params) {
  HttpTarget target;
  Result<codec::Url> url = codec::parse_url(*param<std::string>(params, "url"));
  if (!url) return std::unexpected(url.error());
  target.url = *std::move(url);
  if (const auto statuses = param<std::vector<std::string>>(params, "status")) {
    target.policy.statuses.clear();
    for (const std::string& text : *statuses) {
      const Result<judge::StatusRange> range = read_range(text);
      if (!range) return std::unexpected(range.error());
      target.policy.statuses.push_back(*range);
    }
  }
  if (target.policy.statuses.empty()) return fail(Errc::kInvalid, "status: none would be good");
  target.policy.body = param<std::string>(params, "body").value_or("");
  target.headers = param<std::vector<std::string>>(params, "header").value_or(target.headers);
  for (const std::string& line : target.headers) {
    if (const Result<void> good = check_header(line); !good) return std::unexpected(good.error());
  }
  target.head = param<bool>(params, "head").value_or(false);
  if (target.head && !target.policy.body.empty())
    return fail(Errc::kInvalid, "body: the answer to HEAD has none");
  const auto redirects = integer_param(params, "redirects", 0, kMostRedirects,
                                       static_cast<std::int64_t>(target.redirects));
  if (!redirects) return std::unexpected(redirects.error());
  target.redirects = static_cast<std::size_t>(*redirects);
  target.keep_open = param<bool>(params, "keep_open").value_or(false);
  const auto fresh = integer_param(params, "fresh_every", 1, kMostLooks,
                                   static_cast<std::int64_t>(target.fresh_every));
  if (!fresh) return std::unexpected(fresh.error());
  target.fresh_every = static_cast<std::uint64_t>(*fresh);
  return target;
}

}  // namespace wardmote::observe
