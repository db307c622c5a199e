#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace wardmote::codec {

/// The first key that an object has twice. Boost.JSON hides that, because it takes the last of
/// both. `text` is the valid JSON of an object; objects inside are not checked.
std::optional<std::string> key_given_twice(std::string_view text);

/// Where an object at any depth has a key for the second time. `text` is valid JSON.
std::optional<std::size_t> place_of_key_given_twice(std::string_view text);

}  // namespace wardmote::codec
