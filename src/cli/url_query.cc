#include "cli/url_query.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"

namespace wardmote::cli {
namespace {

bool is_plain(char c) noexcept {
  const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  return letter || c == '-' || c == '.' || c == '_' || c == '~';
}

}  // namespace

std::string url_query(const std::vector<std::pair<std::string_view, std::string>>& fields) {
  std::string query;
  for (const auto& [name, value] : fields) {
    if (value.empty()) continue;
    if (!query.empty()) query += '&';
    query += name;
    query += '=';
    for (const char c : value) {
      query +=
          is_plain(c) ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return query;
}

}  // namespace wardmote::cli
