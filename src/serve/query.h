#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"

namespace wardmote::serve {

/// The fields of a URL's query, percent-decoded.
using Query = std::map<std::string, std::string, std::less<>>;

/// `a=1&b=x%20y`. kInvalid for a bad escape, a field that is given twice, or one that is not among
/// `known`: a filter that is not understood must not be taken for none.
Result<Query> parse_query(std::string_view text, std::initializer_list<std::string_view> known);

}  // namespace wardmote::serve
