#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wardmote::codec {

/// What stands in the `metadata` of an object of Kubernetes. What is absent or of another type is
/// empty.
struct ObjectHead {
  std::string api_version;
  std::string kind;
  std::string space;  ///< its namespace
  std::string name;
  std::string uid;
  std::string resource_version;
  std::string deleting_since;  ///< empty: nobody deletes it
  std::map<std::string, std::string> labels;
  std::map<std::string, std::string> annotations;
  std::vector<std::string> appliers;  ///< field managers with the operation Apply
  std::vector<std::string> managers;  ///< all of them, each once
  std::string controller;             ///< the owner that controls it: `ReplicaSet web`; empty: none
};
ObjectHead read_head(const boost::json::object& object);

bool is_secret(const boost::json::object& object);

/// Whether all that `wanted` says is so in `live`: each key of a map, each item of a list, in its
/// order; a null is absent.
bool covers(const boost::json::value& live, const boost::json::value& wanted);

/// The object without what the server writes for itself, with its keys sorted.
boost::json::object without_noise(const boost::json::object& object);

/// Two states of one object as YAML for people, without noise; null: there is none. Of a Secret
/// each value is `***`, and one that differs `*** (before)` and `*** (after)`; of its annotations,
/// too.
struct ShownStates {
  std::string before;
  std::string after;
};
ShownStates show_states(const boost::json::object* before, const boost::json::object* after);

/// The object itself; of a Secret without its values, with their names.
boost::json::object without_secrets(const boost::json::object& object);

/// Of the object with its keys sorted: the same for all orders of keys. Hexadecimal.
std::string digest_of(const boost::json::object& object);

}  // namespace wardmote::codec
