// One truth on every face: whatever happens to what is watched and to the agent, status, gates,
// incidents and metrics agree, and a restart changes nothing that is said.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/agent.h"
#include "base/format.h"
#include "judge/outcome.h"
#include "observe/kinds.h"
#include "observe/probe.h"
#include "sim/asked_agent.h"
#include "sim/seeds.h"
#include "sim/sim_database.h"
#include "store/embedded_store.h"

namespace wardmote::agent {
namespace {

namespace json = boost::json;
using judge::Outcome;
using judge::ReasonCode;
using runtime::Task;
using sim::SimDatabase;
using sim::SimDisk;
using sim::SimRuntime;
using sim::World;
using namespace std::chrono_literals;

/// What each check will see, by its name.
std::map<std::string, std::pair<Outcome, ReasonCode>>& scripts() {
  static std::map<std::string, std::pair<Outcome, ReasonCode>> all;
  return all;
}

class ScriptedProbe final : public observe::Probe {
 public:
  ScriptedProbe(runtime::Runtime& runtime, std::string subject)
      : runtime_(runtime), subject_(std::move(subject)) {}
  Task<judge::Observation> look(runtime::Deadline) override {
    judge::Observation seen;
    seen.subject = subject_;
    seen.begun = seen.ended = runtime_.now();
    const auto& [outcome, reason] = scripts()[subject_];
    seen.outcome = outcome;
    seen.reason = {reason, reason == ReasonCode::kNone ? "" : "as scripted"};
    co_return seen;
  }

 private:
  runtime::Runtime& runtime_;
  std::string subject_;
};

Result<std::unique_ptr<observe::Probe>> make_scripted(runtime::Runtime& runtime,
                                                      std::string subject, const observe::Params&) {
  return std::make_unique<ScriptedProbe>(runtime, std::move(subject));
}

constexpr std::array<observe::ProbeKind, 1> kKinds{
    {{"scripted", "sees what the test says", {}, make_scripted}}};

constexpr std::string_view kConfig = R"(
api: {listen: 127.0.0.1:9470}
checks:
  - {name: host, scripted: {}, every: 1s, fall: 2, rise: 2}
  - {name: web, scripted: {}, every: 1s, fall: 3, rise: 2, depends_on: [host]}
  - {name: db, scripted: {}, every: 1s, fall: 1, rise: 1, depends_on: [host]}
  - {name: lone, scripted: {}, every: 1s, fall: 3, rise: 1, unknown_limit: 5s}
  - {name: maybe, scripted: {}, every: 1s, fall: 2, rise: 1, optional: true}
  - {name: slow, scripted: {}, every: 1s, fall: 2, rise: 1, start_period: 10s}
gates:
  ready: {all: [web, db, lone, maybe, slow], at_least: {count: 1, of: [web, db]}}
  live: {all: [host]}
)";

const std::vector<std::string> kChecks = {"host", "web", "db", "lone", "maybe", "slow"};

int badness(std::string_view verdict) {
  if (verdict == "ok") return 0;
  if (verdict == "unknown") return 1;
  return verdict == "warning" ? 2 : 3;
}

std::string text(const json::value& value) {
  return value.as_string().c_str();
}

std::int64_t looks(const json::object& status) {
  std::int64_t looks = 0;
  for (const json::value& check : status.at("checks").as_array())
    looks += check.at("looks").as_int64();
  return looks;
}

/// What every face says at one moment.
struct Faces {
  json::object status;
  std::map<std::int64_t, json::object> incidents;
  int readyz = 0;
  int livez = 0;
  std::string metrics;

  [[nodiscard]] std::string verdict() const { return text(status.at("verdict")); }
  [[nodiscard]] const json::object& check(std::string_view name) const {
    for (const json::value& one : status.at("checks").as_array()) {
      if (text(one.at("name")) == name) return one.as_object();
    }
    return status;
  }
};

/// An agent that can be killed and started again on the same disk.
class Restartable : public sim::AskedAgent {
 public:
  explicit Restartable(World& world) : AskedAgent(world) { begin(); }
  ~Restartable() { end(); }

  void restart() {
    end();
    begin();
  }

  /// All at one moment: asked again when somebody looked meanwhile.
  Faces faces() {
    for (;;) {
      Faces faces;
      faces.status = status();
      const json::value incidents = json::parse(get("/api/v1/incidents").body);
      for (const json::value& one : incidents.at("incidents").as_array())
        faces.incidents[one.at("id").as_int64()] = one.as_object();
      faces.readyz = get("/readyz").status;
      faces.livez = get("/livez").status;
      faces.metrics = get("/metrics").body;
      if (looks(faces.status) == looks(status())) return faces;
    }
  }
  json::object status() { return json::parse(get("/api/v1/status").body).as_object(); }
  std::string verdict() { return text(status().at("verdict")); }

  std::unique_ptr<Agent> agent;

 private:
  void begin() {
    database_.emplace(us, disk_);
    store_.emplace(us, *database_, "boot");
    const Result<void> opened = run_task(sim, us, store_->open());
    EXPECT_TRUE(opened) << opened.error().describe();
    auto config = config::parse_config(kConfig, kKinds);
    check(config.has_value(), "the configuration");
    agent = std::make_unique<Agent>(us, no_service_, *std::move(config), "ctl",
                                    Memory{&*database_, &*store_, nullptr});
    const Result<void> recalled = run_task(sim, us, agent->recall());
    EXPECT_TRUE(recalled) << recalled.error().describe();
    const Result<void> started = agent->start();
    EXPECT_TRUE(started) << started.error().describe();
  }
  void end() {
    sim.run(us, agent->stop());
    agent.reset();
    store_.reset();
    database_.reset();
  }

  SimDisk disk_;
  std::optional<SimDatabase> database_;
  std::optional<store::EmbeddedStore> store_;
  const ServiceManager no_service_{"", std::nullopt};
};

void expect_one_truth(const Faces& faces) {
  const int verdict = badness(faces.verdict());
  std::int64_t open = 0;
  for (const auto& [id, incident] : faces.incidents) {
    ++open;
    const std::string severity = text(incident.at("severity"));
    if (severity != "info") {
      EXPECT_GE(verdict, badness(severity)) << "the verdict is better than incident " << id;
    }
  }
  EXPECT_EQ(faces.status.at("incidents").at("open").as_int64(), open);
  bool reported = false;
  for (const std::string& name : kChecks) {
    const json::object& check = faces.check(name);
    const bool counts = !check.at("optional").as_bool() || check.at("seen_good").as_bool();
    const bool bad = check.at("state") == "reported" && counts;
    reported = reported || bad;
    const bool critical = bad && !check.at("optional").as_bool();
    if (bad) EXPECT_NE(faces.verdict(), "ok") << name << " is reported";
    if (critical) EXPECT_EQ(faces.verdict(), "critical") << name << " is reported";
    if (bad && name == "host") EXPECT_EQ(faces.livez, 503);
    if (bad && name != "host") EXPECT_EQ(faces.readyz, 503) << name << " is reported";
  }
  if (faces.readyz != 200 || faces.livez != 200) EXPECT_NE(faces.verdict(), "ok");
  if (reported) EXPECT_GT(open, 0) << "what is reported has its incident";
  if (faces.verdict() == "ok") {
    EXPECT_EQ(open, 0);
    EXPECT_EQ(faces.readyz, 200);
  }
  for (const json::value& gate : faces.status.at("gates").as_array()) {
    const int answer = gate.at("name") == "ready" ? faces.readyz : faces.livez;
    EXPECT_EQ(gate.at("ready").as_bool(), answer == 200) << gate.at("name");
    EXPECT_TRUE(faces.metrics.contains(fmt::format("wardmote_gate_ready{{gate=\"{}\"}} {}",
                                                   text(gate.at("name")), answer == 200 ? 1 : 0)));
  }
  const std::map<std::string, int> codes = {
      {"ok", 0}, {"warning", 1}, {"critical", 2}, {"unknown", 3}};
  EXPECT_TRUE(
      faces.metrics.contains(fmt::format("\nwardmote_verdict {}\n", codes.at(faces.verdict()))));
  for (const std::string& name : kChecks) {
    EXPECT_TRUE(faces.metrics.contains(
        fmt::format("wardmote_check_status{{check=\"{}\",kind=\"scripted\"}} {}\n", name,
                    faces.check(name).at("exit_code").as_int64())))
        << name;
  }
}

/// What is said of incidents, but for their ages.
std::string told_of(const Faces& faces) {
  std::string told;
  for (const auto& [id, incident] : faces.incidents) {
    told += fmt::format("#{} {} {} {} {} {} {}\n", id, text(incident.at("root")),
                        text(incident.at("code")), text(incident.at("severity")),
                        text(incident.at("summary")), text(incident.at("opened")),
                        incident.at("reopened").as_int64());
  }
  return told;
}

void script_anything(World& sim, const std::string& check) {
  static constexpr std::array<std::pair<Outcome, ReasonCode>, 6> kLooks{
      {{Outcome::kOk, ReasonCode::kNone},
       {Outcome::kOk, ReasonCode::kNone},
       {Outcome::kWarn, ReasonCode::kState},
       {Outcome::kFail, ReasonCode::kRefused},
       {Outcome::kUnknown, ReasonCode::kClosed},
       {Outcome::kUnknown, ReasonCode::kDenied}}};
  scripts()[check] = kLooks[sim.random().below(kLooks.size())];
}

SIM_TEST_SEEDS(SimTruth, NoFaceContradictsAnother, 20) {
  scripts().clear();
  Restartable lab(sim);
  for (int i = 0; i < 40; ++i) {
    script_anything(sim, kChecks[sim.random().below(kChecks.size())]);
    sim.run_for(Duration(sim.random().below(6'000'000'000)));
    if (sim.random().below(8) == 0) {
      const Duration pause(sim.random().below(90) * 1'000'000'000);
      lab.us.pause_for(pause);
      sim.run_for(pause + 1s);
    }
    const Faces before = lab.faces();
    expect_one_truth(before);
    if (sim.random().below(4) != 0) continue;
    // Everything that the present looks lead to has come, and is written down.
    sim.run_for(70s);
    const Faces last = lab.faces();
    lab.restart();
    const Faces after = lab.faces();
    expect_one_truth(after);
    EXPECT_EQ(told_of(after), told_of(last));
    if (!last.incidents.empty()) {
      EXPECT_GE(badness(after.verdict()), badness(last.verdict())) << "no better by a restart";
    }
    if (last.readyz != 200) EXPECT_NE(after.readyz, 200);
    for (const std::string& name : kChecks) {
      if (last.check(name).at("state") == "reported") {
        EXPECT_EQ(after.check(name).at("state"), "reported") << name;
      }
    }
    if (::testing::Test::HasFailure()) return;
  }
}

SIM_TEST_SEEDS(SimTruth, AnAgentThatStartsInAnOutageSaysSoAfterFallLooks, 5) {
  scripts().clear();
  for (const std::string& name : kChecks) scripts()[name] = {Outcome::kFail, ReasonCode::kRefused};
  Restartable lab(sim);
  EXPECT_LE(lab.time_until([&] { return lab.verdict() == "critical"; }, 20s), 2s);
  sim.run_for(5s);
  const Faces faces = lab.faces();
  expect_one_truth(faces);
  EXPECT_EQ(faces.check("slow").at("state"), "discovery") << "it may still be starting";
  EXPECT_EQ(faces.check("web").at("state"), "reported");
  sim.run_for(10s);
  EXPECT_EQ(lab.faces().check("slow").at("state"), "reported");
  EXPECT_EQ(lab.faces().check("maybe").at("exit_code"), 1) << "optional, and never there";
}

SIM_TEST_SEEDS(SimTruth, RightAfterARestartInAnOutageEverythingIsAsItWas, 5) {
  scripts().clear();
  for (const std::string& name : kChecks) scripts()[name] = {Outcome::kOk, ReasonCode::kNone};
  Restartable lab(sim);
  sim.run_for(10s);
  EXPECT_EQ(lab.faces().verdict(), "ok");
  // Too few for a storm, whose end would wait for calm.
  for (const char* const name : {"host", "web", "db", "lone"})
    scripts()[name] = {Outcome::kFail, ReasonCode::kRefused};
  sim.run_for(10s);
  const Faces before = lab.faces();
  EXPECT_EQ(before.verdict(), "critical");
  lab.restart();
  const Faces after = lab.faces();
  expect_one_truth(after);
  EXPECT_EQ(after.verdict(), "critical");
  EXPECT_EQ(after.readyz, 503);
  EXPECT_EQ(told_of(after), told_of(before));
  for (const auto& [id, incident] : after.incidents) {
    EXPECT_EQ(incident.at("symptoms"), before.incidents.at(id).at("symptoms")) << id;
    EXPECT_EQ(incident.at("standing"), before.incidents.at(id).at("standing")) << id;
  }
  // And it ends as it would have.
  for (const std::string& name : kChecks) scripts()[name] = {Outcome::kOk, ReasonCode::kNone};
  EXPECT_LE(lab.time_until([&] { return lab.verdict() == "ok"; }, 20s), 4s);
}

/// A minute and more in which this process did not run makes nobody fail or blind on waking.
SIM_TEST_SEEDS(SimTruth, AFrozenAgentWakesWithoutAccusingAnybody, 20) {
  scripts().clear();
  for (const std::string& name : kChecks) scripts()[name] = {Outcome::kOk, ReasonCode::kNone};
  Restartable lab(sim);
  sim.run_for(10s + Duration(sim.random().below(1'000'000'000)));
  // On waking an agent cannot judge for a moment.
  for (const std::string& name : kChecks)
    scripts()[name] = {Outcome::kUnknown, ReasonCode::kProberStarved};
  lab.us.pause_for(66s);
  sim.run_for(66s);
  const auto closed = [&] {
    return lab.get("/livez").status != 200 || lab.get("/readyz").status != 200;
  };
  EXPECT_GT(lab.time_until(closed, 1500ms), 1500ms);
  for (const std::string& name : kChecks) scripts()[name] = {Outcome::kOk, ReasonCode::kNone};
  EXPECT_GT(lab.time_until(closed, 5s), 5s);
  EXPECT_TRUE(lab.faces().incidents.empty());
}

}  // namespace
}  // namespace wardmote::agent
