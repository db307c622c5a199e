#include "serve/page_of_list.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>

#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "serve/query.h"

namespace wardmote::serve {

std::size_t PageOfList::begin(std::size_t total) const noexcept {
  return std::min(offset, total);
}

std::size_t PageOfList::end(std::size_t total) const noexcept {
  return std::min(begin(total) + limit, total);
}

std::string PageOfList::key() const {
  return fmt::format("?limit={}&offset={}", limit, offset);
}

Result<PageOfList> page_of_list(const Query& query) {
  PageOfList page;
  if (query.has("limit")) {
    const auto limit = parse_number<std::size_t>(query.value("limit"));
    if (!limit || *limit == 0 || *limit > PageOfList::kMost)
      return fail(Errc::kInvalid, "limit: write a number from 1 to {}", PageOfList::kMost);
    page.limit = *limit;
  }
  if (query.has("offset")) {
    const auto offset = parse_number<std::size_t>(query.value("offset"));
    if (!offset) return fail(Errc::kInvalid, "offset: write how many items come before");
    page.offset = *offset;
  }
  return page;
}

}  // namespace wardmote::serve
