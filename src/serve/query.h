#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace wardmote::serve {

/// The part of a URL after `?`, as forms encode it: `a=1&b=two+words&c`. A key or value with a
/// malformed escape is kept as it is.
class Query {
 public:
  explicit Query(std::string_view raw);

  [[nodiscard]] bool has(std::string_view key) const;
  /// The first value of `key`; empty when it is absent.
  [[nodiscard]] std::string value(std::string_view key) const;
  /// The first key that is not among `known`: an unknown filter must not be ignored.
  [[nodiscard]] std::optional<std::string> unknown(std::span<const std::string_view> known) const;
  /// `true` or `false`; false when it is absent. kInvalid for any other value.
  [[nodiscard]] Result<bool> flag(std::string_view key) const;
  /// All values of `key`, in their order.
  [[nodiscard]] std::vector<std::string> values(std::string_view key) const;
  /// All values of `key`; `a=x,y&a=z` are three.
  [[nodiscard]] std::vector<std::string> list(std::string_view key) const;

 private:
  std::vector<std::pair<std::string, std::string>> pairs_;
};

}  // namespace wardmote::serve
