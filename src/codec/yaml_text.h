#pragma once

#include <string>

#include <boost/json/value.hpp>

namespace wardmote::codec {

/// The same value as YAML 1.2 in block style, one document with a final line end. A text that is
/// not plainly a word or a few words is quoted, so that no reader takes it for something else;
/// bytes that are not UTF-8 become U+FFFD. Pure.
std::string yaml_text(const boost::json::value& value);

}  // namespace wardmote::codec
