#pragma once

#include <boost/json/object.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace wardmote::codec {

/// A condition of a Node (core/v1 NodeCondition in the API reference).
struct KubeCondition {
  std::string type;
  std::string status;  ///< True, False or Unknown
  std::string reason;
  std::string message;
  std::string heartbeat;   ///< when it was written last: 2026-11-25T10:00:00Z
  std::string transition;  ///< since when it has this status
  friend bool operator==(const KubeCondition&, const KubeCondition&) = default;
};

/// Those that the Node has. What is no condition is left out.
std::vector<KubeCondition> read_node_conditions(const boost::json::object& node);

/// The media type of a patch whose lists are merged by a key of their items.
inline constexpr std::string_view kStrategicMerge = "application/strategic-merge-patch+json";
/// For `/api/v1/nodes/NAME/status`: leaves all other conditions as they are.
boost::json::object make_conditions_patch(std::span<const KubeCondition> written,
                                          std::span<const std::string> removed);

}  // namespace wardmote::codec
