#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include "cli/render/fields.h"

namespace wardmote::cli {

/// A copy of `item` that names its cluster first, as the lists of the API do.
inline boost::json::object in_cluster(const Fields& cluster, const boost::json::value& item) {
  boost::json::object named{{"cluster", cluster.raw("cluster")}};
  if (const boost::json::object* object = item.if_object())
    named.insert(object->begin(), object->end());
  return named;
}

/// The same of a mesh.
inline boost::json::object in_mesh(const Fields& mesh, const boost::json::value& item) {
  boost::json::object named{{"mesh", mesh.raw("mesh")}};
  if (const boost::json::object* object = item.if_object())
    named.insert(object->begin(), object->end());
  return named;
}

/// The same of a guest.
inline boost::json::object in_guest(const Fields& guest, const boost::json::value& item) {
  boost::json::object named{{"guest", guest.raw("guest")}};
  if (const boost::json::object* object = item.if_object())
    named.insert(object->begin(), object->end());
  return named;
}

}  // namespace wardmote::cli
