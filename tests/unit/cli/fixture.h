#pragma once

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <fstream>
#include <iterator>
#include <string>

#include "support/test_data.h"

namespace wardmote::cli {

inline std::string read_text(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// An answer of the API, as tests/data/api has it.
inline boost::json::value api_answer(const std::string& name) {
  return boost::json::parse(read_text(std::string(WARDMOTE_TEST_DATA) + "/api/" + name));
}

}  // namespace wardmote::cli
