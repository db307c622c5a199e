#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace wardmote::codec {

/// The path of an object of this name.
std::string config_map_path(std::string_view space, std::string_view name);

/// A `Status`: why a kube-apiserver refuses a request. Of another body `message` is an excerpt.
struct KubeStatus {
  struct Cause {
    std::string reason;   ///< `FieldManagerConflict`
    std::string message;  ///< `conflict with "kubectl-edit" using v1`
    std::string field;    ///< `.data.a`
  };
  std::string reason;  ///< `Conflict`, `Invalid`; empty: it has none
  std::string message;
  std::vector<Cause> causes;
};
/// All texts are escaped and limited, and so is the number of causes.
KubeStatus parse_kube_status(std::string_view body);

/// A kind of objects that a server has.
struct KubeResource {
  std::string plural;  ///< its part of paths: `configmaps`
  std::string kind;
  bool namespaced = false;
  bool listable = false;
  bool deletable = false;
  bool appliable = true;  ///< false: it takes no PATCH
};
/// An APIResourceList, without sub-resources. kProtocol.
Result<std::vector<KubeResource>> parse_kube_resources(std::string_view body);

/// An APIGroup: the versions that it has, as `apps/v1`, the preferred one first. kProtocol.
Result<std::vector<std::string>> parse_kube_group(std::string_view body);
/// Whether an answer of 404 says that there is no such object. Another 404 is of a path that the
/// server does not have: of a version of its kind that is not served (any more).
bool is_no_object(std::string_view body);

/// One page of a list.
struct KubeList {
  std::string version;  ///< from which a watch goes on
  std::vector<boost::json::object> items;
  std::string next;  ///< the token of the next page; empty: this is the last one
};
/// kProtocol: no list, or an item that is no object.
Result<KubeList> parse_kube_list(std::string_view body);

/// A line of a watch.
struct KubeEvent {
  enum class Kind : std::uint8_t {
    kThere,     ///< it was added or changed: `object` is how it is now
    kGone,      ///< `object` is how it was
    kBookmark,  ///< nothing happened: `object` has the version from which a watch goes on
    kError      ///< the watch cannot go on, because its version is too old for example
  };
  Kind kind = Kind::kError;
  boost::json::object object;
};
/// kProtocol: no event.
Result<KubeEvent> parse_kube_event(std::string_view line);

/// kProtocol: no object with a kind.
Result<boost::json::object> parse_kube_object(std::string_view body);

}  // namespace wardmote::codec
