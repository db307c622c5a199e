#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "observe/kinds.h"
#include "runtime/endpoint.h"

namespace wardmote::observe {

/// The value of a given parameter, as the type of its spec; nothing when it was not given.
/// Precondition: T is the type of the spec.
template <class T>
std::optional<T> param(const Params& params, std::string_view name) {
  const auto found = params.find(name);
  if (found == params.end()) return std::nullopt;
  return std::get<T>(found->second);
}

/// An integer from `least` to `most`, or `otherwise` when it was not given. kInvalid.
Result<std::int64_t> integer_param(const Params& params, std::string_view name, std::int64_t least,
                                   std::int64_t most, std::int64_t otherwise);

/// Sizes: a number of bytes, or with one of the units KiB, MiB, GiB: `64MiB`. kInvalid.
Result<std::optional<std::uint64_t>> bytes_param(const Params& params, std::string_view name);

/// A kText that must be an absolute path without control characters. kInvalid.
Result<std::string> path_param(const Params& params, std::string_view name);

/// A kEndpoint that must be a unix socket; nothing when it was not given. kInvalid.
Result<std::optional<runtime::Endpoint>> unix_socket_param(const Params& params,
                                                           std::string_view name);

}  // namespace wardmote::observe
