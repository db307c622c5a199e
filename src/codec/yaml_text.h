#pragma once

#include <string>

#include <boost/json/value.hpp>

namespace wardmote::codec {

/// The same value as YAML 1.2 in block style, one document with a final line end. Texts that YAML
/// would read as something else, or that hold what a plain scalar may not, are quoted as in JSON.
/// Pure.
std::string yaml_text(const boost::json::value& value);

}  // namespace wardmote::codec
