#include "cli/explain/code.h"

#include <boost/json/array.hpp>
#include <cstddef>
#include <string>
#include <utility>

#include "base/time.h"
#include "cli/explain/in_cluster.h"
#include "cli/render/words.h"
#include "judge/finding.h"
#include "judge/plan/plan.h"

namespace wardmote::cli {
namespace {

namespace json = boost::json;

/// `at once`, `after 2 election rounds`, `after 1m00s`.
std::string window_words(const judge::Window& window) {
  std::string words;
  if (window.election_rounds > 0)
    words = counted(static_cast<std::size_t>(window.election_rounds), "election round");
  if (window.fixed > Duration::zero()) {
    if (!words.empty()) words += " and ";
    words += format_duration(window.fixed);
  }
  return words.empty() ? "at once" : "after " + words;
}

/// What a policy can let the agent do about it; null: it only tells.
json::value act_words(judge::Code code) {
  const auto work = judge::plan::work_for(code);
  if (!work) return nullptr;
  return *work == judge::plan::Work::kRemoveServer
             ? "kick the server, where a policy lets it (docs/plans.md)"
             : "rebuild the member, where a policy lets it (docs/plans.md)";
}

}  // namespace

json::object catalogue_entry(const judge::CodeInfo& info) {
  json::object entry;
  entry["code"] = info.name;
  entry["severity"] = to_string(info.severity);
  entry["raised"] = window_words(info.window);
  entry["critical"] = nullptr;
  if (info.critical_after) entry["critical"] = window_words(*info.critical_after);
  entry["meaning"] = info.meaning;
  entry["evidence"] = info.evidence;
  entry["advice"] = info.advice;
  entry["agent_may"] = act_words(info.code);
  return entry;
}

json::object explain_code(const judge::CodeInfo& info, const json::value& status) {
  json::object entry = catalogue_entry(info);
  for (const std::string_view list : {"findings", "observed"}) {
    json::array of_code;
    for (const json::value& cluster : Fields(status).list("clusters")) {
      for (const json::value& one : Fields(cluster).list(list)) {
        if (Fields(one).raw("code") == info.name)
          of_code.push_back(in_cluster(Fields(cluster), one));
      }
    }
    for (const json::value& mesh : Fields(status).list("meshes")) {
      for (const json::value& one : Fields(mesh).list(list)) {
        if (Fields(one).raw("code") == info.name) of_code.push_back(in_mesh(Fields(mesh), one));
      }
    }
    entry[list] = std::move(of_code);
  }
  return entry;
}

}  // namespace wardmote::cli
