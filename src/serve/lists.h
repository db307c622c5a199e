#pragma once

#include <boost/json/array.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "serve/page_of_list.h"
#include "serve/renderer.h"
#include "serve/route.h"
#include "serve/thing_view.h"
#include "serve/view.h"

namespace wardmote::serve {

/// What is as long as the configuration is: each a page of `?limit=500&offset=0` (page_of_list.h),
/// with "total" and "next": the offset of the next page, or null.
///
///   /api/v1/status           everything (json.h); its lists have one page, and "totals" says how
///                            long they are. What is not well comes first on a page that is not all
///   /api/v1/findings         {"at", "verdict", "findings": [of json.h, each with
///                            ThingView::names()]}
///   /api/v1/checks           {"at", "checks": []}
///
/// `renderer` outlives them; null: they are rendered at once.
std::vector<Route> list_routes(Renderer* renderer);
/// The path of the family's list: {"at", its list: [of ThingView::to_json()]}; and one of its
/// things, by its name. `family` outlives them.
std::vector<Route> family_routes(const Family& family, Renderer* renderer);

/// Begins to render one page of such a list.
using RenderList =
    std::function<std::unique_ptr<Rendering>(const AgentView& view, PageOfList page)>;
/// Adds one list. `path` outlives it.
Route list_route(Renderer* renderer, std::string_view path, RenderList render);

/// A list of the parts of things, over all things.
struct Parts {
  std::string_view key;  ///< key of the list in the answer
  bool verdict = false;  ///< before the list stands overall_verdict()
  std::function<std::size_t(const ThingView& thing)> count;
  /// The parts as objects, `count` of them. Each is shown with the thing's names first.
  std::function<boost::json::array(const ThingView& thing, Moment at)> all;
};
std::unique_ptr<Rendering> render_parts(const AgentView& view, PageOfList page, Parts parts);

}  // namespace wardmote::serve
