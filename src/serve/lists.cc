#include "serve/lists.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "judge/check_machine.h"
#include "judge/thing.h"
#include "judge/verdict.h"
#include "runtime/http.h"
#include "serve/answer.h"
#include "serve/json.h"
#include "serve/page_of_list.h"
#include "serve/query.h"
#include "serve/renderer.h"
#include "serve/role.h"
#include "serve/route.h"
#include "serve/thing_view.h"
#include "serve/view.h"

namespace wardmote::serve {
namespace {

namespace json = boost::json;
using List = LongObject::List;

/// Copies, because the data of an answer that is rendered in pieces must not change meanwhile.
template <class T>
using Copies = std::shared_ptr<const std::vector<T>>;

template <class T>
Copies<T> page_of(const std::vector<T>& all, PageOfList page) {
  const auto at = [&](std::size_t position) {
    return all.begin() + static_cast<std::ptrdiff_t>(position);
  };
  return std::make_shared<const std::vector<T>>(at(page.begin(all.size())),
                                                at(page.end(all.size())));
}

/// The same; if the page does not have everything, items that are not well come first.
template <class T, class Well>
Copies<T> overview_of(const std::vector<T>& all, PageOfList page, Well well) {
  if (all.size() <= page.limit) return page_of(all, page);
  std::vector<const T*> order;
  order.reserve(all.size());
  for (const bool wanted : {false, true}) {
    for (const T& one : all) {
      if (well(one) == wanted) order.push_back(&one);
    }
  }
  std::vector<T> copies;
  for (std::size_t i = page.begin(all.size()); i < page.end(all.size()); ++i)
    copies.push_back(*order[i]);
  return std::make_shared<const std::vector<T>>(std::move(copies));
}

List checks_list(const Copies<CheckView>& checks, Moment at) {
  return {"checks", checks->size(),
          [checks, at](std::size_t i) { return json::array{to_json((*checks)[i], at.now)}; }};
}

/// A view of a thing is never changed after it is shown, so copies of the pointers are enough.
using Thing = std::shared_ptr<const ThingView>;

std::vector<Thing> things_of(const AgentView& view, judge::ThingKind kind) {
  std::vector<Thing> things;
  std::ranges::copy_if(view.things, std::back_inserter(things),
                       [kind](const Thing& thing) { return thing->id.kind == kind; });
  return things;
}

bool is_well(const Thing& thing) {
  return thing->verdict().value_or(judge::Verdict::kOk) == judge::Verdict::kOk;
}

List things_list(std::string_view name, const Copies<Thing>& things, Moment at) {
  return {std::string(name), things->size(),
          [things, at](std::size_t i) { return json::array{(*things)[i]->to_json(at)}; }};
}

/// {"at", "total", "next"}
json::object head_of(const AgentView& view, PageOfList page, std::size_t total) {
  json::object head;
  head["at"] = format_utc(view.wall_now);
  head["total"] = total;
  const std::size_t end = page.end(total);
  head["next"] = end < total ? json::value(end) : json::value(nullptr);
  return head;
}

std::unique_ptr<Rendering> one_list(json::object head, List list) {
  std::vector<List> lists;
  lists.push_back(std::move(list));
  return std::make_unique<LongObject>(std::move(head), std::move(lists));
}

std::unique_ptr<Rendering> render_status(const AgentView& view, PageOfList page) {
  json::object head = to_json(view);
  json::object totals;
  for (const Family* const family : view.families)
    totals[family->list] = count_of(view, family->kind);
  totals["checks"] = view.checks.size();
  head["totals"] = std::move(totals);
  const Moment at = view.moment();
  const auto gates = std::make_shared<const json::array>(gates_json(view));
  std::vector<List> lists;
  lists.reserve(view.families.size() + 2);
  for (const Family* const family : view.families) {
    lists.push_back(
        things_list(family->list, overview_of(things_of(view, family->kind), page, is_well), at));
  }
  lists.push_back(checks_list(
      overview_of(view.checks, page,
                  [](const CheckView& one) { return exit_code(one.state, one.optional) == 0; }),
      at));
  lists.push_back({"gates", 1, [gates](std::size_t) { return *gates; }});
  return std::make_unique<LongObject>(std::move(head), std::move(lists));
}

std::unique_ptr<Rendering> render_checks(const AgentView& view, PageOfList page) {
  return one_list(head_of(view, page, view.checks.size()),
                  checks_list(page_of(view.checks, page), view.moment()));
}

std::unique_ptr<Rendering> render_family(const AgentView& view, PageOfList page,
                                         const Family& family) {
  const std::vector<Thing> things = things_of(view, family.kind);
  return one_list(head_of(view, page, things.size()),
                  things_list(family.list, page_of(things, page), view.moment()));
}

/// The items of one thing that are on a page of the items of all things.
struct Share {
  Thing thing;
  std::size_t from = 0;
  std::size_t to = 0;
};

std::vector<Share> shares_of(const AgentView& view, PageOfList page, std::size_t total,
                             const Parts& parts) {
  std::vector<Share> shares;
  std::size_t passed = 0;
  for (const Thing& thing : view.things) {
    const std::size_t count = parts.count(*thing);
    const std::size_t begin = std::max(page.begin(total), passed);
    const std::size_t end = std::min(page.end(total), passed + count);
    if (begin < end) shares.push_back({thing, begin - passed, end - passed});
    passed += count;
  }
  return shares;
}

json::array items_of(const Share& share, const Parts& parts, Moment at) {
  const json::array all = parts.all(*share.thing, at);
  json::array items;
  for (std::size_t i = share.from; i < share.to; ++i) {
    json::object named = share.thing->names();
    for (const auto& [name, value] : all[i].as_object()) named[name] = value;
    items.emplace_back(std::move(named));
  }
  return items;
}

std::unique_ptr<Rendering> render_findings(const AgentView& view, PageOfList page) {
  return render_parts(view, page,
                      {.key = "findings",
                       .verdict = true,
                       .count = [](const ThingView& thing) { return thing.findings().size(); },
                       .all = [](const ThingView& thing,
                                 Moment at) { return findings_json(thing.findings(), at); }});
}

}  // namespace

Route list_route(Renderer* renderer, std::string_view path, RenderList render) {
  Route route{
      "GET", path, Role::kViewer, [renderer, path, render = std::move(render)](const Ask& ask) {
        const auto page = page_of_list(Query(ask.request.query));
        if (!page) return error_answer(400, page.error().context);
        return rendered_answer(renderer, "application/json", std::string(path) + page->key(),
                               [&] { return render(ask.view, *page); });
      }};
  route.fields = {"limit", "offset"};
  return route;
}

std::unique_ptr<Rendering> render_parts(const AgentView& view, PageOfList page, Parts parts) {
  std::size_t total = 0;
  for (const Thing& thing : view.things) total += parts.count(*thing);
  const auto shares =
      std::make_shared<const std::vector<Share>>(shares_of(view, page, total, parts));
  std::string key(parts.key);
  json::object head = head_of(view, page, total);
  if (parts.verdict) head["verdict"] = to_string(overall_verdict(view));
  return one_list(std::move(head),
                  {std::move(key), shares->size(),
                   [shares, parts = std::move(parts), at = view.moment()](std::size_t i) {
                     return items_of((*shares)[i], parts, at);
                   }});
}

std::vector<Route> list_routes(Renderer* renderer) {
  std::vector<Route> routes;
  routes.push_back(list_route(renderer, "/api/v1/status", render_status));
  routes.push_back(list_route(renderer, "/api/v1/findings", render_findings));
  routes.push_back(list_route(renderer, "/api/v1/checks", render_checks));
  return routes;
}

std::vector<Route> family_routes(const Family& family, Renderer* renderer) {
  const auto list = [&family](const AgentView& view, PageOfList page) {
    return render_family(view, page, family);
  };
  const auto item = [&family](const Ask& ask) {
    const ThingView* const thing = find_thing(ask.view, {family.kind, std::string(ask.name)});
    if (thing != nullptr) return json_answer(thing->to_json(ask.view.moment()));
    return error_answer(
        404, fmt::format("no {} is named '{}'", family.kind.name(), escape_control(ask.name, 64)));
  };
  return {list_route(renderer, family.path, list), {"GET", family.item, Role::kViewer, item}};
}

}  // namespace wardmote::serve
