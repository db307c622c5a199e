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
#include "cli/explain/in_cluster.h"
#include "cli/explain/names.h"
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
  json::array incidents;
  json::array findings;
  json::array observed;

  [[nodiscard]] bool nothing() const noexcept {
    return clusters.empty() && members.empty() && seen_by.empty() && checks.empty() &&
           guests.empty() && incidents.empty() && findings.empty() && observed.empty();
  }
};

void add_cluster(const json::value& cluster, Known& known) {
  known.clusters.push_back(cluster);
  for (const json::value& finding : Fields(cluster).list("findings")) {
    known.findings.push_back(in_cluster(Fields(cluster), finding));
  }
  for (const json::value& condition : Fields(cluster).list("observed")) {
    known.observed.push_back(in_cluster(Fields(cluster), condition));
  }
}

void add_server(std::string_view subject, const Fields& cluster, Known& known) {
  // Other members know a member by id and address, not by the name in our configuration.
  Names names(subject);
  for (const json::value& member : cluster.list("members")) {
    const Fields fields(member);
    if (!Names(subject).are_of_member(fields)) continue;
    known.members.push_back(in_cluster(cluster, member));
    names.add(fields.raw("server_id"));
    names.add(fields.raw("address"));
  }
  for (const json::value& viewer : cluster.list("members")) {
    for (const json::value& server : Fields(viewer).list("servers")) {
      if (Fields(server).flag("self") || !names.are_of_server(Fields(server))) continue;
      json::object sighting = in_cluster(cluster, server);
      sighting["by"] = Fields(viewer).raw("name");
      known.seen_by.push_back(std::move(sighting));
    }
  }
  for (const json::value& finding : cluster.list("findings")) {
    if (names.are_of_any(Fields(finding).texts("subjects"))) {
      known.findings.push_back(in_cluster(cluster, finding));
    }
  }
  for (const json::value& condition : cluster.list("observed")) {
    if (names.are_of_any({Fields(condition).text("subject")})) {
      known.observed.push_back(in_cluster(cluster, condition));
    }
  }
}

/// The findings of a whole mesh, of one node or of one session.
void add_mesh(std::string_view subject, const Fields& mesh, Known& known) {
  const auto concerns = [&](std::string_view named) {
    return mesh.raw("mesh") == subject || named == subject ||
           named.starts_with(std::string(subject) + "/") ||
           named.ends_with("/" + std::string(subject));
  };
  for (const json::value& finding : mesh.list("findings")) {
    const auto names = Fields(finding).texts("subjects");
    if (std::ranges::any_of(names, concerns)) known.findings.push_back(in_mesh(mesh, finding));
  }
  for (const json::value& condition : mesh.list("observed")) {
    if (concerns(Fields(condition).raw("subject")))
      known.observed.push_back(in_mesh(mesh, condition));
  }
}

/// A guest by the name of its domain, by its UUID, or as Nova's users call it.
void add_guest(std::string_view subject, const json::value& value, Known& known) {
  const Fields guest(value);
  const bool named = guest.raw("guest") == subject || guest.raw("uuid") == subject ||
                     guest.raw("instance") == subject;
  if (!named) return;
  known.guests.push_back(value);
  for (const json::value& finding : guest.list("findings"))
    known.findings.push_back(in_guest(guest, finding));
  for (const json::value& condition : guest.list("observed"))
    known.observed.push_back(in_guest(guest, condition));
}

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
  if (scope == "check" || scope == "cluster" || scope == "sessions" || scope == "guest")
    return name;
  if (scope != "member") return root;
  take_until(name, '/');
  return name;
}

}  // namespace

Result<json::value> explain_subject(std::string_view asked, const json::value& status) {
  Known known;
  add_incidents(asked, Fields(status).object("more"), known);
  const std::string_view subject = thing_of(asked);
  for (const json::value& cluster : Fields(status).list("clusters")) {
    if (Fields(cluster).raw("cluster") == subject) {
      add_cluster(cluster, known);
    } else {
      add_server(subject, Fields(cluster), known);
    }
  }
  for (const json::value& mesh : Fields(status).list("meshes"))
    add_mesh(subject, Fields(mesh), known);
  for (const json::value& guest : Fields(status).list("guests")) add_guest(subject, guest, known);
  for (const json::value& check : Fields(status).list("checks")) {
    if (Fields(check).raw("name") == subject) add_check(check, known);
  }
  if (known.nothing()) {
    return fail(Errc::kInvalid,
                "nothing is known as '{}': no finding code, member, server id, address, check, "
                "guest, cluster or root "
                "of an open incident. "
                "'wardmote get members' lists what is watched.",
                escape_control(asked, 64));
  }
  return json::object{{"subject", asked},
                      {"clusters", std::move(known.clusters)},
                      {"members", std::move(known.members)},
                      {"seen_by", std::move(known.seen_by)},
                      {"checks", std::move(known.checks)},
                      {"guests", std::move(known.guests)},
                      {"incidents", std::move(known.incidents)},
                      {"findings", std::move(known.findings)},
                      {"observed", std::move(known.observed)}};
}

}  // namespace wardmote::cli
