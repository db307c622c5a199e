#include "serve/version_gates.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "control/written.h"
#include "judge/reconcile/report.h"
#include "runtime/http.h"
#include "serve/api.h"
#include "sim/sim_runtime.h"
#include "sim/world.h"

namespace wardmote::serve {
namespace {

using judge::version_gate::Release;
using judge::version_gate::Report;
using namespace std::chrono_literals;

/// One gate whose pause is in view when the order is stored.
class FakeGates final : public VersionGatesView {
 public:
  explicit FakeGates(const runtime::Executor& executor)
      : written_(std::make_shared<control::Written>(executor)) {
    shown.gate = "g";
    shown.node = "a";
  }
  [[nodiscard]] std::vector<Report> gates() const override { return {shown}; }
  Written pause_gate(std::string_view /*gate*/, Duration time, std::string by) override {
    paused_for.push_back(time);
    by_ = std::move(by);
    return written_;
  }
  Written resume_gate(std::string_view /*gate*/, std::string /*by*/) override { return none(); }
  Written preserve(std::string_view /*gate*/, Release /*release*/, std::string /*by*/) override {
    return none();
  }
  Written finalize(std::string_view /*gate*/, std::string /*by*/) override { return none(); }
  Written adopt(std::string_view /*gate*/, std::string /*object*/, std::string /*by*/) override {
    return none();
  }
  Written forget_node(std::string_view /*gate*/, std::string /*node*/,
                      std::string /*by*/) override {
    return none();
  }
  /// The order is stored, and in view.
  void store() {
    shown.paused_by = by_;
    written_->done(std::nullopt);
  }
  Report shown;
  std::vector<Duration> paused_for;

 private:
  static Written none() { return fail(Errc::kRejected, "no"); }
  std::shared_ptr<control::Written> written_;
  std::string by_;
};

class VersionGateRoutes : public ::testing::Test {
 protected:
  VersionGateRoutes() { api_.add(version_gate_routes(&gates_)); }
  static AccessRules rules() {
    AccessRules rules;
    rules.users[0] = Role::kAdmin;
    return rules;
  }
  runtime::HttpResponse pause(std::string body) {
    runtime::HttpRequest request{
        .method = "POST", .path = "/api/v1/version-gates/g/pause", .query = {}};
    request.body = std::move(body);
    request.headers.emplace_back("content-type", "application/json");
    request.peer.process = runtime::Peer::Process{.user = 0};
    runtime::HttpResponse answer = api_.answer(request);
    if (answer.hold == nullptr) return answer;
    gates_.store();
    return run_task(world_, us_, answer.hold->wait()).value_or(answer);
  }
  runtime::HttpResponse pass() {
    runtime::HttpRequest request{
        .method = "GET", .path = "/api/v1/version-gates/g/reconcile", .query = {}};
    request.peer.process = runtime::Peer::Process{.user = 0};
    return api_.answer(request);
  }
  sim::World world_{1};
  sim::SimRuntime& us_ = world_.host("us");
  FakeGates gates_{us_.executor()};
  AgentView view_;
  Api api_{[this]() -> const AgentView& { return view_; }, rules()};
};

TEST_F(VersionGateRoutes, TheAnswerToAnOrderShowsTheGateAfterIt) {
  const runtime::HttpResponse answer = pause("{}");
  EXPECT_EQ(answer.status, 202);
  EXPECT_TRUE(answer.body.contains("\"paused_by\"")) << answer.body;
}

TEST_F(VersionGateRoutes, APauseIsForATimeOrUntilResumeAndNeverForNone) {
  EXPECT_EQ(pause(R"({"for": "0s"})").status, 400);
  EXPECT_EQ(pause(R"({"for": "9000h"})").status, 400);
  EXPECT_TRUE(gates_.paused_for.empty());
  EXPECT_EQ(pause(R"({"for": "30m"})").status, 202);
  EXPECT_EQ(pause("{}").status, 202);
  EXPECT_EQ(gates_.paused_for, (std::vector<Duration>{30min, 0s}));
}

/// Nobody leads a gate that is paused, and the pass before tells what the people look at.
TEST_F(VersionGateRoutes, TheLastPassOfAPausedGateIsShown) {
  gates_.shown.paused_by = "anna";
  EXPECT_EQ(pass().status, 404) << "there was none";
  auto last = std::make_shared<judge::reconcile::PassReport>();
  last->objects = 7;
  gates_.shown.last_pass = last;
  const runtime::HttpResponse answer = pass();
  EXPECT_EQ(answer.status, 200);
  EXPECT_TRUE(answer.body.contains("\"7 objects\"")) << answer.body;
  EXPECT_TRUE(answer.body.contains(R"("paused_by":"anna")")) << answer.body;
  EXPECT_FALSE(gate_json(gates_.shown).contains("reconcile"))
      << "of a gate that nobody leads it says nothing of how things are";
}

TEST_F(VersionGateRoutes, ThePassOfAnotherLeaderIsAskedForThere) {
  gates_.shown.last_pass = std::make_shared<judge::reconcile::PassReport>();
  gates_.shown.candidates.push_back({.node = "b", .token = 3});
  const runtime::HttpResponse answer = pass();
  EXPECT_EQ(answer.status, 404);
  EXPECT_TRUE(answer.body.contains("ask b")) << answer.body;
}

}  // namespace
}  // namespace wardmote::serve
