#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"
#include "serve/query.h"

namespace wardmote::serve {

/// Which page of a long list the caller wants: `?limit=500&offset=1000`.
struct PageOfList {
  static constexpr std::size_t kUsual = 500;
  static constexpr std::size_t kMost = 1000;

  std::size_t offset = 0;
  std::size_t limit = kUsual;

  /// The positions of `total` items that are on the page: [begin, end).
  [[nodiscard]] std::size_t begin(std::size_t total) const noexcept;
  [[nodiscard]] std::size_t end(std::size_t total) const noexcept;
  /// For keys of renderings: equal for equal pages.
  [[nodiscard]] std::string key() const;
};

/// kInvalid when `limit` or `offset` is not a number, or too large.
Result<PageOfList> page_of_list(const Query& query);

}  // namespace wardmote::serve
