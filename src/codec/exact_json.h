#pragma once

#include <boost/json/value.hpp>
#include <boost/system/error_code.hpp>
#include <cstddef>
#include <string_view>

namespace wardmote::codec {

struct ExactJson {
  boost::json::value value;
  std::size_t used = 0;             ///< bytes of the text; what follows was not looked at
  boost::system::error_code error;  ///< then `value` is null, and `used` is where it went wrong
};

/// The first JSON value of a text (RFC 8259), at most `depth` levels deep, with every number
/// rounded as IEEE 754 says. Boost.JSON 1.81 is wrong in the last digit of some, so that an object
/// that comes back from a server would look changed. Pure.
ExactJson read_exact_json(std::string_view text, std::size_t depth);

}  // namespace wardmote::codec
