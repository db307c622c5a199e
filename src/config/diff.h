#pragma once

#include <string>
#include <vector>

#include <boost/json/object.hpp>

namespace wardmote::config {

/// One way in which two configurations differ, for people.
struct Difference {
  std::string what;  ///< `check bird`, `cluster ovn-nb`, `gate ready`, `api`
  char sign = '~';   ///< `+` only in the new one, `-` only in the old one, `~` in both
  std::vector<std::string> changes;  ///< of `~`: `every: 5s -> 1s`
};

/// From the effective JSON of two valid configurations. Empty when they mean the same. Pure.
std::vector<Difference> differences(const boost::json::object& from, const boost::json::object& to);

}  // namespace wardmote::config
