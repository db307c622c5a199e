#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace wardmote::cli {

/// `since=6h&subject=a%20b`. Fields with an empty value are left out.
std::string url_query(const std::vector<std::pair<std::string_view, std::string>>& fields);

}  // namespace wardmote::cli
