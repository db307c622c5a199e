#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace wardmote::codec {

/// A failover segment, or a host of one, as Masakari's API v1 lists it.
struct MasakariItem {
  std::string uuid;
  std::string name;
  std::optional<bool> on_maintenance;  ///< of a host
};

/// The body of `GET /segments` or `GET /segments/{id}/hosts`, whose list is called `segments` or
/// `hosts` (masakari/api/openstack/ha). What has no UUID is left out. kProtocol: there is no list.
Result<std::vector<MasakariItem>> parse_masakari_list(std::string_view body, std::string_view name);

/// Whether the body of `GET /notifications` lists one of that instance with one of these times,
/// written like `2026-11-20T08:11:37`: a database may round to seconds.
bool lists_masakari_notification(std::string_view body, std::string_view instance,
                                 std::span<const std::string> times);

}  // namespace wardmote::codec
