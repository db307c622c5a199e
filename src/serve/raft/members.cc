#include "serve/raft/members.h"

#include <boost/json/array.hpp>
#include <cstddef>

#include "serve/lists.h"
#include "serve/page_of_list.h"
#include "serve/raft/cluster_view.h"
#include "serve/route.h"
#include "serve/thing_view.h"
#include "serve/view.h"

namespace wardmote::serve {
namespace {

std::size_t count_members(const ThingView& thing) {
  const auto* const cluster = dynamic_cast<const ClusterView*>(&thing);
  return cluster == nullptr ? 0 : cluster->opinions.size();
}

boost::json::array members_of(const ThingView& thing, Moment at) {
  return thing.to_json(at).at("members").as_array();
}

}  // namespace

Route members_route(Renderer* renderer) {
  return list_route(renderer, "/api/v1/members", [](const AgentView& view, PageOfList page) {
    return render_parts(view, page, {.key = "members", .count = count_members, .all = members_of});
  });
}

}  // namespace wardmote::serve
