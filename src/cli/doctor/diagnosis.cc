#include "cli/doctor/diagnosis.h"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include "base/format.h"
#include "cli/doctor/rights.h"
#include "cli/exit_code.h"
#include "cli/render/fields.h"
#include "cli/render/style.h"
#include "cli/render/words.h"
#include "judge/outcome.h"
#include "serve/complaint.h"

namespace wardmote::cli {
namespace {

namespace json = boost::json;
using judge::Outcome;

constexpr double kHighPressure = 50;
constexpr std::uint32_t kOthersMayWrite = 0002;

/// The probes that the agent cannot run, by reason: many checks with one cause are one diagnosis.
struct Obstacle {
  std::string_view reason;
  std::string_view says;
  std::string_view advice;
};
/// Denied by our own kernel, not by a peer that asks for a certificate.
constexpr std::string_view kClosedPing = "closed ping";
constexpr Obstacle kObstacles[] = {
    {"denied", "refused the agent",
     "its detail (wardmote get checks -o wide) says whether a certificate, a login or a rule of a "
     "firewall is missing"},
    {kClosedPing, "may not be sent pings by the agent",
     "sysctl -w net.ipv4.ping_group_range='0 2147483647', and the same in /etc/sysctl.d"},
    {"missing", "not there",
     "correct the path in the configuration, or start what should be there"},
    {"prober_starved", "not judged, because the agent itself got no CPU",
     "give the agent its share of the CPU, or find who takes it"},
};

/// A file whose permissions refuse the agent, unlike a peer that refuses it.
constexpr std::string_view kClosedFile = "closed file";

std::string reason_of(const Fields& look) {
  const std::string reason = look.text("reason");
  if (reason == "denied" && look.raw("kind") == "ping") return std::string(kClosedPing);
  const bool file = reason == "denied" && !path_in(look.raw("detail")).empty();
  return file ? std::string(kClosedFile) : reason;
}

void diagnose_looks(const Fields& status, const Refusals& refusals, std::vector<Diagnosis>& found) {
  std::map<std::string, std::vector<std::string>, std::less<>> by_reason;
  for (const json::value& value : status.list("checks")) {
    const Fields check(value);
    // The subject of an optional check may be absent.
    const bool absent = check.flag("optional") && check.raw("reason") == "missing";
    if (check.raw("kind") == "cluster" || absent) continue;
    by_reason[reason_of(check)].push_back(check.text("name"));
  }
  for (const json::value& cluster : status.list("clusters")) {
    for (const json::value& value : Fields(cluster).list("members")) {
      const Fields member(value);
      by_reason[reason_of(member)].push_back(Fields(cluster).text("cluster") + "/" +
                                             member.text("name"));
    }
  }
  const auto closed = by_reason.find(kClosedFile);
  if (closed != by_reason.end()) {
    found.push_back(
        {"looks", Outcome::kFail,
         fmt::format("{}: may not be opened by the agent", fmt::join(closed->second, ", ")),
         remedy(refusals.files, refusals.agent)});
  }
  for (const Obstacle& obstacle : kObstacles) {
    const auto names = by_reason.find(obstacle.reason);
    if (names == by_reason.end()) continue;
    found.push_back({"looks", Outcome::kFail,
                     fmt::format("{}: {}", fmt::join(names->second, ", "), obstacle.says),
                     std::string(obstacle.advice)});
  }
}

void diagnose_config(const Fields& status, std::vector<Diagnosis>& found) {
  const Fields config = status.object("config");
  const auto problems = config.object("refused").texts("problems");
  if (!problems.empty()) {
    found.push_back({"configuration", Outcome::kFail,
                     fmt::format("refused, so the one before it runs: {}", problems.front()),
                     fmt::format("mend {}; `wardmote config check {}` lists every problem",
                                 config.text("path"), config.text("path"))});
  } else if (config.has("hash")) {
    found.push_back({"configuration", Outcome::kOk,
                     fmt::format("{} {} runs since {}", config.text("path"), config.text("hash"),
                                 config.text("applied"))});
  }
}

void diagnose_restart(const Fields& status, std::vector<Diagnosis>& found) {
  const auto keys = status.object("config").texts("restart_needed");
  if (!keys.empty()) {
    found.push_back({"configuration", Outcome::kWarn,
                     fmt::format("{} was changed, and the agent runs with what it was started with",
                                 fmt::join(keys, ", ")),
                     "restart the agent, for example with systemctl restart wardmoted"});
  }
  const std::string aside = status.object("self").text("put_aside");
  if (aside.empty()) return;
  found.push_back({"database", Outcome::kWarn,
                   "it was damaged when the agent started, and a new one was begun: silences, "
                   "acknowledgements and what had been told are not in it",
                   fmt::format("look for a failing disk, and order again what is to be silent; the "
                               "old one lies at {}. After a restart this is not said any more",
                               aside)});
}

Exit exit_of(Outcome outcome) noexcept {
  return exit_of_verdict(to_string(outcome));
}

}  // namespace

std::vector<Diagnosis> diagnose(const Surroundings& around) {
  std::vector<Diagnosis> found;
  if (!around.clock_synchronised) {
    found.push_back(
        {"clock", Outcome::kUnknown, "the kernel does not say whether it is set right"});
  } else if (*around.clock_synchronised) {
    found.push_back({"clock", Outcome::kOk, "synchronised"});
  } else {
    found.push_back(
        {"clock", Outcome::kWarn,
         "not synchronised, so times in logs and histories of several machines do not fit",
         "run chrony or systemd-timesyncd: timedatectl set-ntp true"});
  }
  if (around.agent_descriptors && around.agent_limit) {
    const bool scarce = *around.agent_descriptors * 2 > *around.agent_limit;
    found.push_back({"descriptors", scarce ? Outcome::kWarn : Outcome::kOk,
                     fmt::format("{} of {} open", *around.agent_descriptors, *around.agent_limit),
                     scarce ? "raise LimitNOFILE= in the agent's unit" : ""});
  }
  if (around.socket_mode) {
    const bool open = (*around.socket_mode & kOthersMayWrite) != 0;
    found.push_back({"socket", open ? Outcome::kWarn : Outcome::kOk,
                     fmt::format("mode {:04o}{}", *around.socket_mode,
                                 open ? ": every user of this machine may ask the agent" : ""),
                     open ? "chmod o-w the socket, and start the agent with UMask=0077" : ""});
  }
  if (around.cpu_pressure && *around.cpu_pressure > kHighPressure) {
    found.push_back({"cpu", Outcome::kWarn,
                     fmt::format("tasks waited for it in {:.0f} % of the last ten seconds",
                                 *around.cpu_pressure),
                     "find who takes it; an agent that gets no CPU judges nobody"});
  }
  return found;
}

std::string remedy_of(std::string_view complaint) {
  if (complaint.contains(serve::kFolderLost)) {
    return "make sure that no other agent uses the folder that 'data' names, then restart this "
           "one; until then it begins no step, and what is new ends with it";
  }
  if (complaint.contains(serve::kNotWritten)) {
    return "make room in the folder that 'data' names, or mend its disk; until then what is new "
           "ends with the agent";
  }
  return "give the agent its share of the CPU; bad news from that time is void";
}

std::vector<Diagnosis> diagnose_status(const json::value& value, std::string_view own_version,
                                       const Refusals& refusals) {
  const Fields status(value);
  std::vector<Diagnosis> found;
  const std::string version = status.text("version");
  const bool same = version == own_version;
  found.push_back(
      {"version", same ? Outcome::kOk : Outcome::kWarn,
       same ? version : fmt::format("the agent is {}, this program {}", version, own_version),
       same ? "" : "restart the agent after an upgrade"});
  const std::string complaint = status.object("self").text("complaint");
  if (!complaint.empty()) {
    found.push_back({"agent", Outcome::kWarn, "degraded: " + complaint, remedy_of(complaint)});
  }
  diagnose_config(status, found);
  diagnose_restart(status, found);
  diagnose_looks(status, refusals, found);
  return found;
}

std::vector<Diagnosis> diagnose_plans(const json::value& plans) {
  std::vector<Diagnosis> found;
  for (const json::value& value : Fields(plans).list("policies")) {
    const Fields policy(value);
    if (policy.raw("mode") != "act" || policy.flag("acts")) continue;
    found.push_back({"policy", Outcome::kWarn, policy.text("reason"),
                     "make sure that no other agent has a policy that acts on these clusters, and "
                     "add 'sole: true' to it"});
  }
  return found;
}

json::value to_json(const std::vector<Diagnosis>& diagnoses) {
  json::array list;
  for (const Diagnosis& one : diagnoses) {
    json::object object;
    object["name"] = one.what;
    object["outcome"] = json::string(to_string(one.outcome));
    object["says"] = one.says;
    object["advice"] = one.advice.empty() ? json::value(nullptr) : json::value(one.advice);
    list.push_back(std::move(object));
  }
  return json::object{{"diagnoses", std::move(list)}};
}

std::string draw_diagnoses(const json::value& shown, Style style) {
  std::string drawn;
  for (const json::value& value : Fields(shown).list("diagnoses")) {
    const Fields one(value);
    const std::string outcome = one.text("outcome");
    drawn += fmt::format("{}{}  {}: {}\n", paint(style, tone_of_outcome(outcome), outcome),
                         std::string(outcome.size() < 7 ? 7 - outcome.size() : 0, ' '),
                         one.text("name"), one.text("says"));
    if (one.has("advice")) drawn += fmt::format("         do: {}\n", one.text("advice"));
  }
  return drawn;
}

Exit exit_of(const std::vector<Diagnosis>& diagnoses) noexcept {
  Exit worst = Exit::kGood;
  for (const Diagnosis& one : diagnoses) worst = worse(worst, exit_of(one.outcome));
  return worst;
}

}  // namespace wardmote::cli
