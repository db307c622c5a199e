#include "cli/explain/subject.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "cli/explain/check_findings.h"
#include "cli/explain/names.h"
#include "cli/render/family.h"
#include "cli/render/fields.h"

namespace wardmote::cli {
namespace {

namespace json = boost::json;

struct Known {
  json::array clusters;
  json::array members;
  json::array seen_by;
  json::array checks;
  json::array guests;
  json::array things;
  json::array incidents;
  json::array findings;
  json::array observed;

  [[nodiscard]] bool nothing() const noexcept {
    return clusters.empty() && members.empty() && seen_by.empty() && checks.empty() &&
           guests.empty() && things.empty() && incidents.empty() && findings.empty() &&
           observed.empty();
  }
};

/// The findings and conditions of a thing that `concerns` says it is about.
template <class Concerns>
void add_standing(const Family& family, const Fields& thing, const Concerns& concerns,
                  Known& known) {
  for (const json::value& finding : thing.list("findings")) {
    if (std::ranges::any_of(Fields(finding).texts("subjects"), concerns))
      known.findings.push_back(named_in(family, thing, finding));
  }
  for (const json::value& condition : thing.list("observed")) {
    if (concerns(Fields(condition).text("subject")))
      known.observed.push_back(named_in(family, thing, condition));
  }
}

/// All findings and conditions of a thing.
void add_all_standing(const Family& family, const Fields& thing, Known& known) {
  for (const json::value& finding : thing.list("findings"))
    known.findings.push_back(named_in(family, thing, finding));
  for (const json::value& condition : thing.list("observed"))
    known.observed.push_back(named_in(family, thing, condition));
}

void add_server(std::string_view subject, const Family& family, const Fields& cluster,
                Known& known) {
  // Other members know a member by id and address, not by the name in our configuration.
  Names names(subject);
  for (const json::value& member : cluster.list("members")) {
    const Fields fields(member);
    if (!Names(subject).are_of_member(fields)) continue;
    known.members.push_back(named_in(family, cluster, member));
    names.add(fields.raw("server_id"));
    names.add(fields.raw("address"));
  }
  for (const json::value& viewer : cluster.list("members")) {
    for (const json::value& server : Fields(viewer).list("servers")) {
      if (Fields(server).flag("self") || !names.are_of_server(Fields(server))) continue;
      json::object sighting = named_in(family, cluster, server);
      sighting["by"] = Fields(viewer).raw("name");
      known.seen_by.push_back(std::move(sighting));
    }
  }
  const auto concerns = [&](const std::string& named) { return names.are_of_any({named}); };
  add_standing(family, cluster, concerns, known);
}

/// A whole cluster, or one of its servers.
void add_cluster(std::string_view subject, const Family& family, const json::value& value,
                 Known& known) {
  const Fields cluster(value);
  if (cluster.raw(family.thing) != subject) return add_server(subject, family, cluster, known);
  known.clusters.push_back(value);
  add_all_standing(family, cluster, known);
}

/// Whether it is a member of that etcd cluster, by its name or its id.
bool has_member(const Fields& cluster, std::string_view subject) {
  return std::ranges::any_of(cluster.list("members"), [&](const json::value& each) {
    const Fields member(each);
    return member.raw("member") == subject || member.object("facts").raw("member_id") == subject;
  });
}

/// A whole mesh with its findings, of one node or of one session; of a whole etcd cluster, or of
/// one of its members, which is shown in its cluster.
void add_findings_about(std::string_view subject, const Family& family, const json::value& value,
                        Known& known) {
  const Fields thing(value);
  if (thing.raw(family.thing) == subject || has_member(thing, subject))
    known.things.push_back(value);
  const auto concerns = [&](std::string_view named) {
    return thing.raw(family.thing) == subject || named == subject ||
           named.starts_with(std::string(subject) + "/") ||
           named.ends_with("/" + std::string(subject));
  };
  add_standing(family, thing, concerns, known);
}

/// A guest by the name of its domain, by its UUID, or as Nova's users call it.
void add_guest(std::string_view subject, const Family& family, const json::value& value,
               Known& known) {
  const Fields guest(value);
  const bool named = guest.raw(family.thing) == subject || guest.raw("uuid") == subject ||
                     guest.raw("instance") == subject;
  if (!named) return;
  known.guests.push_back(value);
  add_all_standing(family, guest, known);
}

/// How a subject is looked for in the things of a family.
struct Search {
  std::string_view list;
  void (*add)(std::string_view subject, const Family& family, const json::value& thing,
              Known& known);
};
constexpr Search kSearches[] = {{"clusters", add_cluster},
                                {"meshes", add_findings_about},
                                {"etcd", add_findings_about},
                                {"failover", add_findings_about},
                                {"guests", add_guest}};

void add_check(const json::value& check, Known& known) {
  known.checks.push_back(check);
  for (json::value& finding : findings_of_check(check))
    known.findings.push_back(std::move(finding));
}

/// The incidents whose root it is, or that have it among their symptoms.
void add_incidents(std::string_view subject, const Fields& incidents, Known& known) {
  const auto is_it = [&](std::string_view thing) {
    if (thing == subject) return true;
    take_until(thing, ':');
    return thing == subject || thing.ends_with(fmt::format("/{}", subject));
  };
  for (const json::value& incident : incidents.list("incidents")) {
    const Fields fields(incident);
    const auto names = fields.texts("names");
    const bool named =
        is_it(fields.raw("root")) || std::ranges::find(names, subject) != names.end();
    const bool part = std::ranges::any_of(fields.list("standing"), [&](const json::value& symptom) {
      return is_it(Fields(symptom).raw("component"));
    });
    if (named || part) known.incidents.push_back(incident);
  }
}

/// `bird` of `check:bird`, `ctl-1` of `member:nb/ctl-1`; a text that is not a root stays as it is.
std::string_view thing_of(std::string_view root) {
  std::string_view name = root;
  const std::string_view scope = take_until(name, ':');
  for (const std::string_view whole :
       {"check", "cluster", "etcd", "failover", "guest", "mesh", "sessions"}) {
    if (scope == whole) return name;
  }
  if (scope != "member") return root;
  take_until(name, '/');
  return name;
}

}  // namespace

Result<json::value> explain_subject(std::string_view asked, const json::value& status) {
  Known known;
  add_incidents(asked, Fields(status).object("more"), known);
  const std::string_view subject = thing_of(asked);
  for (const Search& search : kSearches) {
    const Family& family = *std::ranges::find(families(), search.list, &Family::list);
    for (const json::value& thing : Fields(status).list(search.list))
      search.add(subject, family, thing, known);
  }
  for (const json::value& check : Fields(status).list("checks")) {
    if (Fields(check).raw("name") == subject) add_check(check, known);
  }
  if (known.nothing()) {
    // As `status -o name` prints it. A cluster may have such a name itself, so it comes last.
    for (const std::string_view scope :
         {"check/", "cluster/", "etcd/", "guest/", "mesh/", "pair/"}) {
      std::string_view name = asked;
      if (consume_prefix(name, scope)) return explain_subject(name, status);
    }
    return fail(Errc::kInvalid,
                "nothing is known as '{}': no finding code, member, server id, address, check, "
                "guest, cluster, mesh, failover pair or root of an open incident. "
                "'wardmote get members' lists what is watched.",
                escape_control(asked, 64));
  }
  return json::object{{"subject", asked},
                      {"clusters", std::move(known.clusters)},
                      {"members", std::move(known.members)},
                      {"seen_by", std::move(known.seen_by)},
                      {"checks", std::move(known.checks)},
                      {"guests", std::move(known.guests)},
                      {"things", std::move(known.things)},
                      {"incidents", std::move(known.incidents)},
                      {"findings", std::move(known.findings)},
                      {"observed", std::move(known.observed)}};
}

}  // namespace wardmote::cli
