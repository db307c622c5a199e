#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace wardmote::serve {

/// What follows the `?` of a URL, as forms encode it: `a=1&b=two+words&c`. A key or value whose
/// escapes are broken is kept as it is.
class Query {
 public:
  explicit Query(std::string_view raw);

  [[nodiscard]] bool has(std::string_view key) const;
  /// The first value of `key`; empty when it is not there.
  [[nodiscard]] std::string value(std::string_view key) const;
  /// The first key that is not among `known`: a filter that is not understood must not be taken for
  /// none.
  [[nodiscard]] std::optional<std::string> unknown(
      std::initializer_list<std::string_view> known) const;
  /// All values of `key`; `a=x,y&a=z` are three.
  [[nodiscard]] std::vector<std::string> list(std::string_view key) const;

 private:
  std::vector<std::pair<std::string, std::string>> pairs_;
};

}  // namespace wardmote::serve
