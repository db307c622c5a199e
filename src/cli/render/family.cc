#include "cli/render/family.h"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/format.h"
#include "cli/exit_code.h"
#include "cli/failover/pair.h"
#include "cli/render/cluster.h"
#include "cli/render/etcd.h"
#include "cli/render/fields.h"
#include "cli/render/guests.h"
#include "cli/render/mesh.h"
#include "cli/render/style.h"

namespace wardmote::cli {
namespace {

namespace json = boost::json;
using Things = std::span<const json::value>;

template <std::string (*Draw)(const json::value&, Style)>
std::string one_by_one(Things things, Style style) {
  std::string drawn;
  for (const json::value& thing : things) drawn += "\n" + Draw(thing, style);
  return drawn;
}

std::string in_a_table(Things guests, Style style) {
  return guests.empty() ? "" : "\n" + draw_guests(guests, style);
}

constexpr auto kFamilies = std::to_array<Family>({
    {"clusters", "cluster", "cluster", one_by_one<draw_cluster>},
    {"meshes", "mesh", "bgp_mesh", one_by_one<draw_watched_mesh>},
    {"etcd", "etcd", "etcd_cluster", one_by_one<draw_etcd>},
    {"failover", "pair", "failover_pair", one_by_one<draw_pair>},
    {"guests", "guest", "", in_a_table},
});

}  // namespace

std::span<const Family> families() noexcept {
  return kFamilies;
}

json::object named_in(const Family& family, const Fields& thing, const json::value& item) {
  json::object named{{family.thing, thing.raw(family.thing)}};
  if (const json::object* const object = item.if_object())
    named.insert(object->begin(), object->end());
  return named;
}

bool stands_for_a_thing(const Fields& check) {
  const std::string_view kind = check.raw("kind");
  return !kind.empty() &&
         std::ranges::find(kFamilies, kind, &Family::check_kind) != std::end(kFamilies);
}

const Family* family_of(const json::value& thing) {
  const auto found = std::ranges::find_if(
      kFamilies, [&](const Family& family) { return Fields(thing).has(family.thing); });
  return found == std::end(kFamilies) ? nullptr : &*found;
}

std::string draw_thing(const json::value& thing, Style style) {
  const Family* const family = family_of(thing);
  if (family == nullptr) return "";
  const std::string drawn = family->draw({&thing, 1}, style);
  return drawn.substr(drawn.find_first_not_of('\n'));
}

Exit exit_of_thing(const json::value& thing) {
  const std::string_view verdict = Fields(thing).raw("verdict");
  return exit_of_verdict(verdict.empty() ? Fields(thing).raw("outcome") : verdict);
}

std::string name_of_thing(const json::value& thing) {
  const Family* const family = family_of(thing);
  if (family == nullptr) return "";
  return fmt::format("{}/{}", family->thing, Fields(thing).text(family->thing));
}

std::vector<std::string> names_of_all(const json::value& status) {
  std::vector<std::string> names;
  const Fields fields(status);
  for (const Family& family : kFamilies) {
    for (const json::value& thing : fields.list(family.list))
      names.push_back(fmt::format("{}/{}", family.thing, Fields(thing).text(family.thing)));
  }
  for (const json::value& check : fields.list("checks")) {
    if (!stands_for_a_thing(Fields(check))) names.push_back("check/" + Fields(check).text("name"));
  }
  return names;
}

}  // namespace wardmote::cli
