#include "serve/change_text.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "judge/bgp/mesh.h"
#include "judge/raft/assess.h"
#include "judge/verdict.h"

namespace wardmote::serve {
namespace {

using namespace std::chrono_literals;
using judge::Change;
using judge::ThingKind;

constexpr WallTime kNow{1'767'225'600s};

ChangeText told(ThingKind kind, std::string name, judge::Event event) {
  return text_of(Change{1, kNow, {kind, std::move(name)}, std::move(event)});
}

std::string line(const ChangeText& text) {
  std::string line;
  for (const LogField& field : text.fields) {
    if (!line.empty()) line += " ";
    line += std::string(field.key) + "=" + field.value;
  }
  return line;
}

TEST(ChangeText, WhatCameFromOutsideIsEscapedInTheData) {
  const judge::CheckChanged red{.from = judge::State::kError,
                                .to = judge::State::kReported,
                                .reason = {judge::ReasonCode::kRejected, "\x1b[31mred"},
                                .seen_good = true};
  const ChangeText text = told(ThingKind::kCheck, "c", red);
  EXPECT_EQ(text.level, LogLevel::kError);
  EXPECT_EQ(text.kind, "check_changed");
  EXPECT_EQ(text.data,
            R"({"from":"error","to":"reported","reason":"rejected","detail":"\\x1b[31mred",)"
            R"("counts":true,"seen_good":true})");
}

TEST(ChangeText, AMemberThatWasNotJudgedBeforeComesFromNone) {
  const ChangeText text =
      told(ThingKind::kCluster, "nb", judge::MemberChanged{"ctl-2", {}, judge::Outcome::kFail, {}});
  EXPECT_EQ(line(text), "cluster=nb member=ctl-2 from=none to=fail reason=none detail=");
}

TEST(ChangeText, AFindingIsWholeInTheDataAndShortInTheLine) {
  judge::Finding finding;
  finding.code = judge::Code::kRaftMemberDown;
  finding.severity = judge::Severity::kCritical;
  finding.subjects = {"ctl-2", "5b4b"};
  finding.summary = "nobody listens";
  finding.since = TimePoint(10s);
  using Step = judge::FindingChanged::Step;
  const ChangeText raised = told(ThingKind::kCluster, "nb",
                                 judge::FindingChanged{Step::kRaised, finding, TimePoint(15s)});
  EXPECT_EQ(raised.level, LogLevel::kError);
  EXPECT_EQ(line(raised),
            "cluster=nb code=RAFT_MEMBER_DOWN severity=critical subjects=ctl-2 5b4b "
            "summary=nobody listens");
  EXPECT_TRUE(raised.data.contains(R"("subjects":["ctl-2","5b4b"])")) << raised.data;
  EXPECT_TRUE(raised.data.contains(R"("age_ms":5000)")) << raised.data;
  const ChangeText cleared = told(judge::bgp::kMeshKind, "bgp",
                                  judge::FindingChanged{Step::kCleared, finding, TimePoint(15s)});
  EXPECT_EQ(cleared.level, LogLevel::kInfo);
  EXPECT_EQ(line(cleared), "mesh=bgp code=RAFT_MEMBER_DOWN subjects=ctl-2 5b4b stood=5.0s");
  EXPECT_TRUE(cleared.data.contains(R"("stood_ms":5000)")) << cleared.data;
}

TEST(ChangeText, WhatAPlanDoesIsAWarningAndWhatGoesWrongAnError) {
  using Of = judge::PlanChanged::Of;
  struct Row {
    Of of;
    const char* word;
    const char* kind;
    LogLevel level;
  };
  for (const Row& row : {Row{Of::kPlan, "proposed", "plan_proposed", LogLevel::kWarning},
                         Row{Of::kPlan, "done", "plan_done", LogLevel::kInfo},
                         Row{Of::kPlan, "unclear", "plan_unclear", LogLevel::kError},
                         Row{Of::kStep, "begun", "step_begun", LogLevel::kWarning},
                         Row{Of::kStep, "done", "step_done", LogLevel::kInfo},
                         Row{Of::kStep, "failed", "step_failed", LogLevel::kError}}) {
    const ChangeText text =
        told(ThingKind::kPlan, "3",
             judge::PlanChanged{.of = row.of, .word = row.word, .cluster = "nb", .incident = 17});
    EXPECT_EQ(text.kind, row.kind);
    EXPECT_EQ(text.level, row.level) << row.kind;
    EXPECT_EQ(text.data, R"({"cluster":"nb","of":"","step":"","detail":"","incident":17})");
  }
}

TEST(ChangeText, ANoticeNamesItsIncidents) {
  using Result = judge::DeliveryChanged::Result;
  const ChangeText one =
      told(ThingKind::kReceiver, "ops", judge::DeliveryChanged{Result::kRefused, "k", {17}, "401"});
  EXPECT_EQ(one.kind, "notice_refused");
  EXPECT_EQ(one.data, R"({"key":"k","incidents":[17],"detail":"401"})");
  const ChangeText many = told(ThingKind::kReceiver, "ops",
                               judge::DeliveryChanged{Result::kUndelivered, "k", {17, 18}, "401"});
  EXPECT_EQ(many.data, R"({"key":"k","incidents":[17,18],"detail":"401"})");
}

TEST(ChangeText, TheVerdictOnAClusterHasItsLevel) {
  using judge::Verdict;
  const ChangeText text =
      told(ThingKind::kCluster, "nb", judge::VerdictChanged{Verdict::kOk, Verdict::kUnknown});
  EXPECT_EQ(text.level, LogLevel::kWarning);
  EXPECT_EQ(line(text), "cluster=nb from=ok to=unknown");
}

}  // namespace
}  // namespace wardmote::serve
