#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>

namespace wardmote::codec {

/// Whether all that `wanted` says is so in `live`, and belongs to the field manager `manager` by
/// server-side apply (`metadata.managedFields`, FieldsV1 of k8s.io/apimachinery and
/// structured-merge-diff). A value that one manager owns as a whole, as an atomic list, is not
/// compared by its parts: when another manager changes any of it, it is his. False also where the
/// server says nothing of fields.
bool holds(const boost::json::object& live, const boost::json::object& wanted,
           std::string_view manager);

/// What `manager` has applied and still owns; empty: nothing, or the server does not say.
boost::json::object owned_fields(const boost::json::object& live, std::string_view manager);

/// The first list whose items, which the server tells apart by a key, are in another order than
/// in `wanted`: `.spec.template.spec.initContainers`. Empty: there is none. Items of others between
/// ours do not count.
std::string reordered(const boost::json::object& live, const boost::json::object& wanted,
                      std::string_view manager);

}  // namespace wardmote::codec
