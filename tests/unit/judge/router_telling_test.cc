// What incidents are known by, and when what was muted is told.
#include <string>

#include <gtest/gtest.h>

#include "unit/judge/router_fixture.h"

namespace wardmote::judge::notify {
namespace {

TEST_F(RouterTest, WhatItIsKnownByStaysTheSameWhenItsCauseShows) {
  step(1, StepKind::kOpened, "daemon");
  step(1, StepKind::kChanged, "session");  // before anybody was told
  now_ += 30s;
  auto notices = take();
  ASSERT_EQ(notices.size(), 1U);
  const Labels known_as = notices[0].items.at(0).known_as;
  EXPECT_EQ(known_as.at("root"), "session");
  step(1, StepKind::kChanged, "node");  // while it is on its way
  router_.delivered(notices[0].group, notices[0].number, now_);
  step(1, StepKind::kChanged, "rack");
  for (const NoticeKind kind : {NoticeKind::kChanged, NoticeKind::kResolved}) {
    now_ += 5min;
    notices = take();
    ASSERT_EQ(notices.size(), 1U);
    EXPECT_EQ(notices[0].items.at(0).kind, kind);
    EXPECT_EQ(notices[0].items.at(0).labels.at("root"), "rack");
    EXPECT_EQ(notices[0].items.at(0).known_as, known_as);
    router_.delivered(notices[0].group, notices[0].number, now_);
    step(1, StepKind::kResolved);
  }
  // It is over, so what comes again may be known by something else.
  step(1, StepKind::kReopened, "daemon");
  now_ += 5min;
  EXPECT_EQ(take().at(0).items.at(0).known_as.at("root"), "daemon");
}

TEST_F(RouterTest, ANoticeThatIsGivenUpKeepsWhatItMayBeKnownBy) {
  step(1, StepKind::kOpened, "daemon");
  now_ += 30s;
  auto notices = take();
  ASSERT_EQ(notices.size(), 1U);
  // Half of a cluster may have taken it.
  ASSERT_TRUE(
      router_.refused(notices[0].group, notices[0].number, {true, {}, "HTTP 400"}, now_, 0));
  step(1, StepKind::kChanged, "node");
  now_ = *router_.next_due();
  notices = take();
  ASSERT_EQ(notices.size(), 1U);
  EXPECT_EQ(notices[0].items.at(0).kind, NoticeKind::kOpened);
  EXPECT_EQ(notices[0].items.at(0).known_as.at("root"), "daemon");
}

// The second one groups otherwise.
TEST_F(RouterTest, AReceiverToWhichTwoRoutesLeadHearsOfAnIncidentOnce) {
  RouterPolicy policy = one_route();
  policy.routes.front().go_on = true;
  policy.routes.push_back({.receiver = "oncall",
                           .match = {{"root", true, "node"}},
                           .group_by = {"code"},
                           .group_wait = 30s});
  router_ = Router(policy);
  step(1, StepKind::kOpened, "daemon");
  EXPECT_EQ(run(1min).size(), 1U);
  step(1, StepKind::kChanged, "node");
  now_ += 5min;
  const auto notices = take();
  ASSERT_EQ(notices.size(), 1U);
  EXPECT_EQ(notices[0].items.at(0).kind, NoticeKind::kChanged);
  EXPECT_EQ(notices[0].items.at(0).known_as.at("root"), "daemon");
}

TEST_F(RouterTest, ASilencedBeginningIsToldWhenTheSilenceEndsIfItStillStands) {
  muting_.put({1, {{"root", true, "r1"}}, wall(), wall() + 1h, "ann", ""});
  step(1, StepKind::kOpened);
  step(2, StepKind::kOpened);
  EXPECT_EQ(run(59min), Said{"30s opened 2"});
  EXPECT_EQ(run(5min), Said{"3600s opened 1"}) << "at once, not a minute later";
}

TEST_F(RouterTest, WhatWasRefusedWaitsForTheEndOfASilenceThatBeganSince) {
  step(1, StepKind::kOpened);
  now_ += 30s;
  auto notices = take();
  ASSERT_EQ(notices.size(), 1U);
  EXPECT_FALSE(router_.refused(notices[0].group, notices[0].number, {.reason = "503"}, now_, 0));
  muting_.put({1, {{"root", true, "r1"}}, wall(), wall() + 30h, "ann", ""});
  EXPECT_EQ(run(29h), Said{});
  muting_.remove(1);
  router_.muting_changed(now_);
  EXPECT_EQ(run(0s), Said{"104430s opened 1"}) << "at once, as it was, and not given up";
}

TEST_F(RouterTest, WhatSeveralMuteIsToldWhenTheLastOfThemEnds) {
  muting_.put({1, {{"root", true, "r1"}}, wall(), wall() + 90s, "ann", ""});
  muting_.put({2, {{"root", true, "r*"}}, wall() + 80s, wall() + 140s + 500ms, "ann", ""});
  muting_.put({3, {{"root", true, "another"}}, wall(), wall() + 1h, "ann", ""});
  // From midnight, when the test begins, for 100 s.
  muting_.set_maintenance({{.name = "n", .match = {}, .window = {.begins = 0s, .length = 100s}}});
  step(1, StepKind::kOpened);
  EXPECT_EQ(run(1h), Said{"140s opened 1"});
}

TEST_F(RouterTest, WhatStandsIsRepeatedAsSoonAsNobodyMutesIt) {
  step(1, StepKind::kOpened);
  run(1min);
  muting_.put({1, {{"root", true, "r1"}}, wall(), wall() + 5h + 7s, "ann", ""});
  EXPECT_EQ(run(6h), Said{"18067s ongoing 1"});
}

TEST_F(RouterTest, ASilenceEndsByTheWallClockAlsoWhenThatIsSet) {
  muting_.put({1, {{"root", true, "r1"}}, wall(), wall() + 1h, "ann", ""});
  step(1, StepKind::kOpened);
  EXPECT_EQ(run(10min), Said{});
  wall_offset_ = 1h;
  EXPECT_EQ(run(61s).size(), 1U);
}

TEST_F(RouterTest, ASilenceThatSomebodyEndsIsOverAtOnceForWhatFailsForLong) {
  muting_.put({1, {{"root", true, "r*"}}, wall(), wall() + 1h, "ann", ""});
  step(1, StepKind::kOpened);
  run(10min);
  step(2, StepKind::kOpened);
  now_ += 10s;
  muting_.remove(1);
  router_.muting_changed(now_);
  EXPECT_EQ(run(0s), Said{"610s opened 1"});
  EXPECT_EQ(run(1min), Said{"630s opened 2"}) << "it still waits for more of the same";
}

TEST_F(RouterTest, ASilenceOfTheConfigurationHoldsInItsTimeAndAsLongAsItStandsThere) {
  muting_.set_configured({{.id = 0,
                           .match = {{"root", true, "r1"}},
                           .from = wall() + 1h,
                           .until = wall() + 2h,
                           .by = {},
                           .comment = {},
                           .name = "upgrade"}});
  const Labels labels{{"root", "r1"}};
  EXPECT_FALSE(muting_.by(labels, wall()));
  EXPECT_EQ(muting_.by(labels, wall() + 1h), "silence upgrade");
  EXPECT_FALSE(muting_.by(labels, wall() + 2h));
  EXPECT_TRUE(muting_.forget(wall() + 24h * 365, 1h).empty()) << "the configuration has it";
  EXPECT_EQ(muting_.next_id(), 1);
  run(90min);
  step(1, StepKind::kOpened);
  EXPECT_EQ(run(10min), Said{});
  muting_.set_configured({});
  router_.muting_changed(now_);
  EXPECT_EQ(run(1min).size(), 1U);
}

TEST_F(RouterTest, AnEndIsToldInSpiteOfASilence) {
  step(1, StepKind::kOpened);
  run(1min);
  muting_.put({1, {{"root", true, "r1"}}, wall(), wall() + 24h, "ann", ""});
  step(1, StepKind::kResolved);
  EXPECT_EQ(run(10min), Said{"330s resolved 1"});
}

TEST_F(RouterTest, WhatCameAndWentUnderASilenceIsNotTold) {
  muting_.put({1, {{"root", true, "r*"}}, wall(), wall() + 1h, "ann", ""});
  step(1, StepKind::kOpened);
  run(10min);
  step(1, StepKind::kResolved);
  EXPECT_EQ(run(3h), Said{});
  EXPECT_TRUE(router_.groups().empty());
}

TEST_F(RouterTest, ARepetitionSaysWhatStandsNow) {
  step(1, StepKind::kOpened);
  run(1min);
  incidents_[1].summary = "the child fails";
  router_.renew(incidents_[1]);
  router_.take_changed();
  now_ = *router_.next_due();
  const auto notices = take();
  ASSERT_EQ(notices.size(), 1U);
  EXPECT_TRUE(notices[0].repeats);
  EXPECT_EQ(notices[0].items.at(0).kind, NoticeKind::kOngoing) << "that is no news";
  EXPECT_EQ(notices[0].items.at(0).incident.summary, "the child fails");
}

TEST_F(RouterTest, WhatIsCalledOtherwiseBeforeItsFirstNoticeIsToldAsItIsThen) {
  step(1, StepKind::kOpened);
  incidents_[1].summary = "18 of 18 fail";
  router_.renew(incidents_[1]);
  Incident old = incidents_[1];
  old.revision = 0;
  old.summary = "6 of 18 fail";
  router_.renew(old);
  now_ += 30s;
  EXPECT_EQ(take().at(0).items.at(0).incident.summary, "18 of 18 fail");
}

TEST_F(RouterTest, AnEndNamesWhatWasTold) {
  const auto call = [&](Code code, const std::string& summary) {
    incidents_[1].code = code;
    incidents_[1].summary = summary;
  };
  call(Code::kRaftMemberDown, "ctl-2 is down");
  step(1, StepKind::kOpened);
  run(1min);
  call(Code::kRaftNoQuorum, "no quorum");
  step(1, StepKind::kChanged);
  step(1, StepKind::kResolved);
  now_ += 5min;
  auto notices = take();
  ASSERT_EQ(notices.size(), 1U);
  const Incident ended = notices[0].items.at(0).incident;
  EXPECT_EQ(ended.code, Code::kRaftMemberDown);
  EXPECT_EQ(ended.summary, "ctl-2 is down; at the worst RAFT_NO_QUORUM: no quorum");
  router_.delivered(notices[0].group, notices[0].number, now_);

  // What was told at the worst is what ends, whatever it was at last.
  step(1, StepKind::kReopened);
  run(10min);
  call(Code::kRaftMemberDown, "ctl-2 is down");
  step(1, StepKind::kChanged);
  run(10min);
  call(Code::kRaftNoLeader, "no leader");
  step(1, StepKind::kResolved);
  now_ += 5min;
  notices = take();
  ASSERT_EQ(notices.size(), 1U);
  EXPECT_EQ(notices[0].items.at(0).incident.code, Code::kRaftNoQuorum);
  EXPECT_EQ(notices[0].items.at(0).incident.summary, "no quorum");
}

// The cause was found, and all was over, before that could be sent.
TEST_F(RouterTest, AnEndHasTheThingThatWasTold) {
  const auto call = [&](const std::string& name) {
    incidents_[1].code = Code::kCheckFailed;
    incidents_[1].names = {name};
    incidents_[1].summary = name + " fails";
    incidents_[1].root = "check:" + name;
  };
  const auto hear = [&](StepKind kind, const std::string& name) {
    call(name);
    ++incidents_[1].revision;
    incidents_[1].phase = kind == StepKind::kResolved ? Phase::kResolved : Phase::kOpen;
    Labels labels = labels_of(incidents_[1]);
    labels["subject"] = name;
    router_.hear({kind, incidents_[1]}, labels, now_);
  };
  incidents_[1].id = 1;
  hear(StepKind::kOpened, "web");
  run(1min);
  hear(StepKind::kChanged, "host");
  hear(StepKind::kResolved, "host");
  now_ += 5min;
  const auto notices = take();
  ASSERT_EQ(notices.size(), 1U);
  const NoticeItem& end = notices[0].items.at(0);
  EXPECT_EQ(end.incident.root, "check:web");
  EXPECT_EQ(end.labels.at("root"), "check:web");
  EXPECT_EQ(end.labels.at("subject"), "web");
  EXPECT_EQ(end.incident.summary, "web fails; at the worst CHECK_FAILED: host fails");
}

// Its gravest part was over first.
TEST_F(RouterTest, AnEndIsAsGraveAsWhatWasTold) {
  incidents_[1].severity = Severity::kCritical;
  step(1, StepKind::kOpened);
  run(1min);
  incidents_[1].severity = Severity::kWarning;
  step(1, StepKind::kResolved);
  now_ += 5min;
  const auto notices = take();
  ASSERT_EQ(notices.size(), 1U);
  EXPECT_EQ(notices[0].items.at(0).incident.severity, Severity::kCritical);
}

TEST_F(RouterTest, AReceiverToWhichTwoRoutesLeadAtOnceHearsOnce) {
  RouterPolicy policy = one_route();
  policy.routes.front().go_on = true;
  policy.routes.push_back({.receiver = "oncall", .group_by = {"code"}, .group_wait = 30s});
  router_ = Router(policy);
  step(1, StepKind::kOpened);
  EXPECT_EQ(run(1h), Said{"30s opened 1"});
  step(1, StepKind::kResolved);
  EXPECT_EQ(run(1h).size(), 1U);
}

TEST_F(RouterTest, AfterARestartWhatWasMutedIsToldWhenTheSilenceIsEnded) {
  step(1, StepKind::kOpened);
  now_ += 30s;
  const auto notices = take();
  ASSERT_EQ(notices.size(), 1U);
  EXPECT_FALSE(router_.refused(notices[0].group, notices[0].number, {.reason = "503"}, now_, 0));
  muting_.put({1, {{"root", true, "r1"}}, wall(), wall() + 30h, "ann", ""});
  EXPECT_EQ(run(10s), Said{}) << "it waits for up to a minute then";
  Group kept = router_.groups().begin()->second;
  kept.pending->held = false;  // that is not written down
  router_ = Router(one_route());
  router_.recall(kept);
  muting_.remove(1);
  router_.muting_changed(now_);
  EXPECT_EQ(run(0s), Said{"40s opened 1"});
}

TEST_F(RouterTest, AnEndThatNobodySawSaysSo) {
  step(1, StepKind::kOpened);
  run(1min);
  incidents_[1].unwatched = true;
  step(1, StepKind::kResolved);
  EXPECT_EQ(run(10min), Said{"330s unwatched 1"});
  EXPECT_TRUE(router_.groups().empty());
}

TEST_F(RouterTest, ANoticeHasTheLabelsThatItsIncidentsHaveInCommonNow) {
  step(1, StepKind::kOpened, "member:nb/a");
  step(1, StepKind::kChanged, "cluster:nb");
  now_ += 30s;
  auto notices = take();
  ASSERT_EQ(notices.size(), 1U);
  EXPECT_EQ(notices[0].group, "oncall{root=member:nb/a}") << "its name stays";
  EXPECT_EQ(notices[0].labels,
            (Labels{{"root", "cluster:nb"}, {"severity", "critical"}, {"code", "X"}}));
  router_ = Router([] {
    RouterPolicy policy = one_route();
    policy.routes.front().group_by = {};
    return policy;
  }());
  step(2, StepKind::kOpened, "a");
  step(3, StepKind::kOpened, "b");
  now_ += 30s;
  EXPECT_EQ(take().at(0).labels, (Labels{{"severity", "critical"}, {"code", "X"}}));
}

TEST_F(RouterTest, AReminderTellsWhatTheReceiverKnowsToStand) {
  step(1, StepKind::kOpened);
  EXPECT_TRUE(router_.reminders("oncall", muting_, wall()).empty()) << "not told of yet";
  run(1min);
  step(2, StepKind::kOpened);
  step(3, StepKind::kOpened);
  run(1min);
  step(1, StepKind::kAcknowledged);
  step(3, StepKind::kResolved);
  muting_.put({1, {{"root", true, "r2"}}, wall(), wall() + 1h, "ann", ""});
  router_.take_changed();
  const auto notices = router_.reminders("oncall", muting_, wall());
  ASSERT_EQ(notices.size(), 1U);
  ASSERT_EQ(notices[0].items.size(), 1U) << "one is over, one is muted";
  EXPECT_TRUE(notices[0].reminds);
  EXPECT_EQ(notices[0].items[0].incident.id, 1);
  EXPECT_EQ(notices[0].items[0].known_as.at("root"), "r1");
  EXPECT_TRUE(router_.take_changed().empty());
  EXPECT_TRUE(router_.reminders("another", muting_, wall()).empty());
}

/// Two members of a cluster: what one missed does not keep the other from hearing it.
TEST_F(RouterTest, AMemberThatMissedAnEndHearsItLater) {
  RouterPolicy policy = one_route();
  policy.routes.push_back(policy.routes[0]);
  policy.routes[0].go_on = true;
  policy.routes[1].receiver = "oncall:2";
  policy.configured_as["oncall:2"] = "oncall";
  router_ = Router(policy);
  step(1, StepKind::kOpened);
  EXPECT_EQ(run(1min), (Said{"30s opened 1", "30s opened 1"}));
  step(1, StepKind::kResolved);
  now_ = *router_.next_due();
  for (const Notice& notice : take()) {
    EXPECT_EQ(notice.items[0].kind, NoticeKind::kResolved);
    if (notice.receiver == "oncall") {
      router_.delivered(notice.group, notice.number, now_);
    } else {
      router_.refused(notice.group, notice.number, {false, {}, "away"}, now_, 0);
    }
  }
  EXPECT_EQ(run(1min).size(), 1U) << "once more, to the one that missed it";
  EXPECT_TRUE(router_.groups().empty());
}

// A check was taken out of the configuration while another had become its cause: nobody saw it
// good.
TEST_F(RouterTest, TheEndOfWhatLeftIsNotToldAsGood) {
  step(1, StepKind::kOpened, "check:c");
  run(1min);
  step(1, StepKind::kChanged, "check:p");
  incidents_[1].left = {"check:c"};
  step(1, StepKind::kResolved);
  now_ += 10min;
  const std::vector<Notice> said = take();
  ASSERT_EQ(said.size(), 1U);
  EXPECT_EQ(said[0].items[0].kind, NoticeKind::kUnwatched);
  EXPECT_TRUE(said[0].items[0].incident.summary.starts_with("check:c is not watched any more"));
}

TEST_F(RouterTest, WhatGoesOnInAnotherIsNotRepeatedBesideIt) {
  router_ = Router([] {
    RouterPolicy policy = one_route();
    policy.routes[0].group_by = {};
    return policy;
  }());
  step(1, StepKind::kOpened);
  step(2, StepKind::kOpened);
  run(1min);
  step(2, StepKind::kMerged);
  run(10min);
  const auto repeated = run(5h);
  ASSERT_EQ(repeated.size(), 1U);
  EXPECT_TRUE(repeated[0].ends_with("s ongoing 1")) << repeated[0];
  step(1, StepKind::kAcknowledged);
  EXPECT_EQ(run(9h), Said{}) << "nor by itself";
}

TEST_F(RouterTest, ManyAreRemindedOfInSeveralNotices) {
  for (int i = 1; i <= 250; ++i) step(i, StepKind::kOpened);
  run(1h);
  std::size_t items = 0;
  const auto notices = router_.reminders("oncall", muting_, wall());
  for (const Notice& notice : notices) items += notice.items.size();
  EXPECT_EQ(notices.size(), 3U);
  EXPECT_EQ(items, 250U);
}

/// A message that waits for its turn has the number of that moment, which comes as a step later.
TEST_F(RouterTest, TheNumberOfAStormIsNotToldTwice) {
  incidents_[1].storm = true;
  incidents_[1].summary = "5 of 16 fail";
  step(1, StepKind::kOpened);
  EXPECT_EQ(run(1h), Said{"30s opened 1"});
  incidents_[1].summary = "16 of 16 fail";
  step(1, StepKind::kChanged);
  EXPECT_EQ(run(1h), Said{"3630s changed 1"});
  step(1, StepKind::kChanged);
  EXPECT_EQ(run(1h), Said{});
  incidents_[1].summary = "8 of 16 fail, 16 at the worst";
  step(1, StepKind::kChanged);
  EXPECT_EQ(run(1h), Said{"10830s changed 1"});
  step(1, StepKind::kResolved);
  EXPECT_EQ(run(1h).size(), 1U);
}

/// Masakari would restart guests whose host is to blame.
TEST_F(RouterTest, WhoRecoversSingleThingsWaitsForTheEndOfAStorm) {
  RouterPolicy policy = one_route();
  policy.recover = {"oncall"};
  const Matcher guests{.label = "scope", .pattern = "guest"};
  policy.routes[0].match = {guests};
  policy.routes.insert(policy.routes.begin(), {.receiver = "people", .group_wait = 0s});
  router_ = Router(policy);
  bool rages = true;
  router_.ask_raging([&](const Incident&) { return rages; });
  incidents_[1].storm = true;
  step(1, StepKind::kOpened, "storm:guest");
  EXPECT_EQ(run(10min), Said{"0s opened 1"}) << "people hear of it";
  rages = false;
  EXPECT_EQ(run(1min), Said{"630s opened 1"}) << "though its route leads single guests only";
  EXPECT_FALSE(router_.leads_to("oncall", {{"scope", "guest"}})) << "the route of people ends it";
  EXPECT_TRUE(router_.leads_to("people", {{"scope", "guest"}}));
}

/// It would restart a guest that runs again.
TEST_F(RouterTest, WhoRecoversThingsIsNotToldOfOneThatIsGoodAgain) {
  RouterPolicy policy = one_route();
  policy.recover = {"oncall"};
  router_ = Router(policy);
  step(1, StepKind::kOpened);
  now_ += 30s;
  ASSERT_EQ(take().size(), 1U);
  const auto& group = router_.groups().begin()->second;
  router_.refused(group.id, group.pending->notice.number, {false, {}, "down"}, now_, 0);
  step(1, StepKind::kResolved);
  EXPECT_EQ(run(1h), Said{"60s brief 1"}) << "of which Masakari is not told";
}

TEST_F(RouterTest, WhatTheReceiverDroppedIsToldAgainIfItStillStands) {
  step(1, StepKind::kOpened);
  step(2, StepKind::kOpened, "r1");
  now_ += 30s;
  std::vector<Notice> notices = take();
  ASSERT_EQ(notices.size(), 1U);
  router_.delivered(notices[0].group, notices[0].number, now_, {{1}, 10min});
  EXPECT_EQ(run(9min), Said{});
  EXPECT_EQ(run(2min), Said{"630s opened 1 ongoing 2"});
  EXPECT_EQ(run(1h), Said{});
}

}  // namespace
}  // namespace wardmote::judge::notify
