#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "codec/url.h"
#include "judge/endpoint/http.h"
#include "observe/kinds.h"

namespace wardmote::observe {

/// What to ask a web server, and what is good.
struct HttpTarget {
  codec::Url url;
  bool head = false;                 ///< HEAD instead of GET
  std::vector<std::string> headers;  ///< whole header lines
  std::size_t redirects = 5;         ///< how many to follow at most, on the same host
  bool keep_open = false;
  std::uint64_t fresh_every = 10;  ///< every Nth probe opens a new connection; at least 1
  judge::HttpPolicy policy;
};

/// Parameters of the kind `http`, and of others that speak HTTP.
std::span<const ParamSpec> http_params() noexcept;
/// kInvalid names the wrong parameter.
Result<HttpTarget> read_http_target(const Params& params);

}  // namespace wardmote::observe
