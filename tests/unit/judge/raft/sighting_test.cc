#include "judge/raft/sighting.h"

#include <gtest/gtest.h>

#include <string>

#include "judge/outcome.h"
#include "judge/raft/member_id.h"
#include "judge/raft/opinion.h"

namespace wardmote::judge::raft {
namespace {

using namespace std::chrono_literals;

const MemberId kServer = *parse_member_id("14302e3d-dac6-4762-a00e-834c7c7479df");
const MemberId kCluster = *parse_member_id("9cc89a56-316d-4636-ab64-528ac2b92174");

const std::string kAddress = "tcp:10.0.0.1:6643";

Opinion answer(const MemberId& server, TimePoint at) {
  Opinion opinion;
  opinion.begun = at;
  opinion.status.emplace();
  opinion.status->server_id = server;
  opinion.status->cluster_id = kCluster;
  return opinion;
}

TEST(Sightings, TellOfEachServerWhatOthersSawOfIt) {
  Sightings sightings;
  sightings.hear(Sightings::member("nb", "ctl-1"), answer(kServer, TimePoint(1h)));
  EXPECT_TRUE(sightings.besides("nb", {}, {}).empty()) << "its own members";
  const Sighting seen{kServer, kCluster, "nb/ctl-1", TimePoint(1h), true};
  EXPECT_EQ(sightings.besides("n", {}, {}), std::vector{seen}) << "whose name begins alike";
  EXPECT_EQ(sightings.besides("sb", {}, {}), std::vector{seen});
  EXPECT_EQ(sightings.besides("sb", kCluster, {}), std::vector{seen});
  EXPECT_TRUE(sightings.besides("sb", kServer, {}).empty()) << "of another cluster";
  sightings.forget(Sightings::member("nb", "ctl-1"));
  EXPECT_TRUE(sightings.besides("sb", {}, {}).empty());
}

TEST(Sightings, WhoWillLookMayBeAnsweredByAnyServerUntilHeWas) {
  Sightings sightings;
  const Sighting waiting{{}, {}, "check local", {}, false, "OVN_Northbound"};
  sightings.expect("check local", "OVN_Northbound");
  EXPECT_EQ(sightings.besides("nb", {}, {}), std::vector{waiting});
  EXPECT_EQ(sightings.here(), std::vector{waiting}) << "and other agents are told";
  sightings.hear("check local", answer(kServer, TimePoint(1h)));
  sightings.expect("check local", "OVN_Northbound");
  EXPECT_TRUE(sightings.here().front().still) << "it goes on to look at the same";
}

/// A wrong `database` in one entry must not make a server that lives look dead in another.
TEST(Sightings, WhoDoesNotHaveThatDatabaseMayBeAServerOfAnyOther) {
  Sightings sightings;
  for (const bool by_control : {true, false}) {
    Opinion without;
    without.database = "OVN_Southbound";
    Source& source = by_control ? without.status_source : without.local_source;
    source.reason.code = ReasonCode::kUnknownCluster;
    sightings.hear("check local", without);
    const auto seen = sightings.besides("nb", {}, {});
    ASSERT_EQ(seen.size(), 1U);
    EXPECT_EQ(seen[0].database, "");
  }
  sightings.hear("check local", answer(kServer, TimePoint(1h)));
  EXPECT_EQ(sightings.besides("nb", {}, {}).front().server, kServer);
}

TEST(Sightings, RememberWhenItAnsweredLast) {
  Sightings sightings;
  Opinion mute;
  mute.database = "OVN_Northbound";
  sightings.hear("check local", mute);
  EXPECT_EQ(sightings.besides("nb", {}, {}),
            (std::vector{Sighting{{}, {}, "check local", {}, false, "OVN_Northbound"}}));
  sightings.hear("check local", answer(kServer, TimePoint(1h)));
  Opinion silent;
  silent.begun = TimePoint(2h);
  sightings.hear("check local", silent);
  EXPECT_EQ(sightings.besides("nb", {}, {}),
            (std::vector{Sighting{kServer, kCluster, "check local", TimePoint(1h), false}}));
  sightings.hear("check local", answer({}, TimePoint(3h)));
  EXPECT_FALSE(sightings.besides("nb", {}, {}).front().still) << "it does not say who it is";
}

TEST(Sightings, TellOtherAgentsOfEachServerOnce) {
  Sightings sightings;
  sightings.hear("check local", answer(kServer, TimePoint(1h)));
  sightings.hear(Sightings::member("nb", "ctl-1"), answer(kServer, TimePoint(1h)));
  sightings.hear("check other", answer(kCluster, TimePoint(1h)));
  Opinion mute;
  mute.begun = TimePoint(2h);
  sightings.hear("check other", mute);
  const Sighting gone{kCluster, kCluster, "check other", TimePoint(1h), false};
  ASSERT_EQ(sightings.here().size(), 2U);
  EXPECT_EQ(sightings.here()[0].server, kServer);
  EXPECT_EQ(sightings.here()[1], gone);
}

TEST(Sightings, OfWhomSomebodyIsAnsweredByItAnswers) {
  Sightings sightings;
  for (const char* const by : {"check a", "check b", "check c"})
    sightings.hear(by, answer(kServer, TimePoint(1h)));
  for (const char* const by : {"check a", "check c"}) sightings.hear(by, Opinion{});
  ASSERT_EQ(sightings.here().size(), 1U);
  EXPECT_EQ(sightings.here().front().by, "check b");
}

TEST(Sightings, OfTwoWhoAreNotAnsweredTheLaterAnswerCounts) {
  Sightings sightings;
  sightings.hear("check a", answer(kServer, TimePoint(1h)));
  sightings.hear("check b", answer(kServer, TimePoint(2h)));
  sightings.hear("check a", Opinion{});
  Opinion refusal;
  refusal.status_source.reason.code = refusal.local_source.reason.code = ReasonCode::kRefused;
  sightings.hear("check b", refusal);
  ASSERT_EQ(sightings.here().size(), 1U);
  EXPECT_EQ(sightings.here().front().by, "check a") << "it may hang there";
  EXPECT_EQ(sightings.here().front().at, TimePoint(2h));
}

// A process that has ended refuses whoever asks; one that hangs, or that nobody reaches, does not.
TEST(Sightings, WhoIsRefusedWaitsForNobody) {
  Sightings sightings;
  sightings.hear("check a", answer(kServer, TimePoint(1h)));
  EXPECT_FALSE(sightings.here().front().refused);
  Opinion silent;
  for (const auto& [control, database, refused] :
       {std::tuple(ReasonCode::kRefused, ReasonCode::kMissing, true),
        std::tuple(ReasonCode::kRefused, ReasonCode::kHung, false),
        std::tuple(ReasonCode::kRefused, ReasonCode::kProberStarved, false),
        std::tuple(ReasonCode::kUnreachable, ReasonCode::kUnreachable, false),
        std::tuple(ReasonCode::kRefused, ReasonCode::kUnreachable, true)}) {
    silent.status_source.reason.code = control;
    silent.local_source.reason.code = database;
    sightings.hear("check a", silent);
    EXPECT_FALSE(sightings.here().front().still);
    EXPECT_EQ(sightings.here().front().refused, refused) << to_string(control);
  }
  sightings.hear("check b", answer(kServer, TimePoint(1h)));
  silent.status_source.reason.code = silent.local_source.reason.code = ReasonCode::kHung;
  sightings.hear("check b", silent);
  ASSERT_EQ(sightings.here().size(), 1U);
  EXPECT_FALSE(sightings.here().front().refused) << "one waits for it";
  sightings.hear("check a", answer(kServer, TimePoint(2h)));
  EXPECT_TRUE(sightings.here().front().still);
  EXPECT_FALSE(sightings.here().front().refused);
}

TEST(Sightings, OfThoseThatNeverAnsweredOneOfEachDatabaseIsTold) {
  Sightings sightings;
  Opinion mute;
  for (const char* const database : {"OVN_Northbound", "OVN_Southbound", "OVN_Northbound"}) {
    mute.database = database;
    sightings.hear(std::string("check ") + database, mute);
  }
  const std::vector<Sighting> told = sightings.here();
  ASSERT_EQ(told.size(), 2U);
  EXPECT_EQ(told[0].database + " " + told[1].database, "OVN_Northbound OVN_Southbound");
  EXPECT_FALSE(told[0].server.known() || told[1].still);
  Opinion refused = mute;
  refused.status_source.reason.code = ReasonCode::kRefused;
  sightings.hear("a check", refused);
  EXPECT_FALSE(sightings.here()[0].refused) << "who waits says more";
}

TEST(Sightings, OfAnotherAgentAreWhatItSaidLast) {
  Sightings sightings;
  Sighting seen{kServer, kCluster, "the agent on ctl-2", TimePoint(1h), true};
  seen.told = true;
  seen.still_since = seen.at;
  sightings.hear_agent("ctl-2", {seen});
  EXPECT_EQ(sightings.besides("nb", {}, {}), std::vector{seen});
  EXPECT_TRUE(sightings.here().empty()) << "nobody repeats what he was told";
  sightings.hear_agent("ctl-2", {});
  EXPECT_TRUE(sightings.besides("nb", {}, {}).empty());
}

TEST(Sightings, ThatAServerIsSilentStillIsNothingNew) {
  Sightings sightings;
  const auto say = [&](bool still, TimePoint at) {
    sightings.hear_agent("ctl-2", {{kServer, kCluster, "the agent on ctl-2", at, still}});
    return sightings.besides("nb", {}, {}).front().at;
  };
  EXPECT_EQ(say(true, TimePoint(1h)), TimePoint(1h));
  EXPECT_EQ(say(false, TimePoint(2h)), TimePoint(2h)) << "it may have answered until then";
  EXPECT_EQ(say(false, TimePoint(3h)), TimePoint(2h));
  EXPECT_EQ(say(true, TimePoint(4h)), TimePoint(4h));
}

// A lease is at most five minutes, and it looks every ten seconds.
TEST(Sightings, OfAnotherAgentTellOfLifeAsLongAgoAsTheyMayBeLate) {
  Sightings sightings;
  const auto alive = [&](bool still, std::optional<Duration> late, TimePoint now) {
    Sighting seen{kServer, kCluster, "the agent on ctl-2", now, still};
    seen.late = late;
    sightings.hear_agent("ctl-2", {seen});
    return sightings.besides("nb", {}, {}).front().alive(now);
  };
  EXPECT_FALSE(alive(true, 10s, TimePoint(1h)));
  EXPECT_FALSE(alive(true, 10s, TimePoint(1h) + 309s));
  EXPECT_EQ(alive(true, 10s, TimePoint(1h) + 310s), TimePoint(1h));
  EXPECT_EQ(alive(true, 10s, TimePoint(2h)), TimePoint(2h) - 310s);
  EXPECT_FALSE(alive(true, std::nullopt, TimePoint(2h))) << "an agent of an earlier release";
  EXPECT_FALSE(alive(false, 10s, TimePoint(2h)));
  EXPECT_FALSE(alive(true, 10s, TimePoint(3h))) << "it was silent meanwhile";
  Sightings own;
  own.hear("check local", answer(kServer, TimePoint(1h)));
  EXPECT_EQ(own.besides("nb", {}, {}).front().alive(TimePoint(2h)), TimePoint(1h));
}

// The server goes on to live, perhaps, and nobody looks at it.
TEST(Sightings, WhomAnAgentSawThatIsAwayHasJustFallenSilent) {
  Sightings sightings;
  Sighting seen{kServer, kCluster, "the agent on ctl-2", TimePoint(1h), true};
  seen.told = true;
  seen.still_since = seen.at;
  sightings.hear_agent("ctl-2", {seen});
  for (const TimePoint at : {TimePoint(2h), TimePoint(3h)}) {
    sightings.lose_agent("ctl-2", at);
    ASSERT_EQ(sightings.besides("nb", {}, TimePoint(2h)).size(), 1U);
    EXPECT_FALSE(sightings.besides("nb", {}, TimePoint(2h)).front().still);
    EXPECT_TRUE(sightings.besides("nb", {}, TimePoint(2h) + 1s).empty()) << "for long enough";
  }
  sightings.hear_agent("ctl-2", {seen});
  EXPECT_EQ(sightings.besides("nb", {}, TimePoint(4h)), std::vector{seen}) << "it is back";
}

TEST(Sightings, OfTwoAgentsOfOneNameNobodyKnowsWhatEitherSays) {
  Sightings sightings;
  sightings.set_unheard("another agent of this name");
  ASSERT_EQ(sightings.besides("nb", {}, {}).size(), 1U);
  EXPECT_FALSE(sightings.besides("nb", {}, {}).front().server.known());
  EXPECT_TRUE(sightings.here().empty());
  sightings.set_unheard("");
  EXPECT_TRUE(sightings.besides("nb", {}, {}).empty());
}

TEST(Sightings, TellWhereAServerSaysThatItIs) {
  Sightings sightings;
  Opinion opinion = answer(kServer, TimePoint(1h));
  opinion.status->address = "tcp:10.0.0.1:6643";
  sightings.hear("check local", opinion);
  EXPECT_EQ(sightings.besides("nb", {}, {}).front().address, "tcp:10.0.0.1:6643");
}

TEST(Sightings, WhoWasAliveBesideAnotherAtItsAddressStaysSo) {
  Sightings sightings;
  sightings.saw_beside(kCluster, *parse_member_id("1430"), kAddress);
  const Sighting brief{
      .server = *parse_member_id("1430"), .cluster = kCluster, .beside = true, .address = kAddress};
  EXPECT_EQ(sightings.besides("nb", {}, {}), std::vector{brief}) << "also of its own members";
  EXPECT_EQ(sightings.here(), std::vector{brief}) << "and other agents are told";
  EXPECT_TRUE(sightings.besides("nb", kServer, {}).empty()) << "of another cluster";
  sightings.saw_beside(kCluster, kServer, kAddress);
  const Sighting full{.server = kServer, .cluster = kCluster, .beside = true, .address = kAddress};
  EXPECT_EQ(sightings.beside(), std::vector{full}) << "the id is known better now";
  sightings.saw_beside(kCluster, *parse_member_id("1430"), kAddress);
  EXPECT_EQ(sightings.beside(), std::vector{full});
  sightings.saw_beside(kCluster, *parse_member_id("1430"), "tcp:10.0.0.2:6643");
  EXPECT_EQ(sightings.beside().size(), 2U) << "another whose id begins alike";
}

TEST(Sightings, WhoWasAliveBesideAnotherIsKnownByHearsay) {
  Sightings sightings;
  const Sighting told{kServer, kCluster, "the agent on ctl-2", TimePoint(1h), false, "",
                      true,    kAddress};
  sightings.hear_agent("ctl-2", {told});
  sightings.lose_agent("ctl-2", TimePoint(1h));
  const Sighting known{.server = kServer, .cluster = kCluster, .beside = true, .address = kAddress};
  EXPECT_EQ(sightings.besides("nb", {}, TimePoint(9h)), std::vector{known}) << "and stays known";
}

TEST(Sightings, OfManyThatWereAliveBesideAnotherTheOldestAreForgotten) {
  Sightings sightings;
  const auto server = [](std::uint64_t i) { return MemberId{i << 32, i, 32}; };
  for (std::uint64_t i = 1; i <= 150; ++i) sightings.saw_beside(kCluster, server(i), kAddress);
  ASSERT_EQ(sightings.beside().size(), 100U);
  EXPECT_EQ(sightings.beside().front().server, server(51));
}

/// A balancer, or a name, that led to one server and leads to another now: the check forgot the
/// first one, which lived, and it was kicked.
TEST(Sightings, WhoAnsweredAtAnAddressThatLeadsElsewhereNowMayLive) {
  Sightings sightings;
  const auto heard = [&](const MemberId& server, const char* address, TimePoint at, bool roams) {
    Opinion opinion = answer(server, at);
    opinion.status->address = address;
    opinion.roams = roams;
    sightings.hear("check vip", opinion);
  };
  heard(kServer, "tcp:10.0.0.4:6643", TimePoint(1h), true);
  heard(kCluster, "tcp:10.0.0.1:6643", TimePoint(2h), true);
  auto seen = sightings.besides("nb", {}, {});
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen[0].server, kCluster);
  EXPECT_TRUE(seen[0].still);
  EXPECT_EQ(seen[1].server, kServer);
  EXPECT_FALSE(seen[1].still);
  EXPECT_FALSE(seen[1].refused) << "nobody has looked for it since";
  EXPECT_EQ(seen[1].at, TimePoint(1h));
  EXPECT_EQ(sightings.here().size(), 2U) << "other agents hear of both";
  heard(kServer, "tcp:10.0.0.4:6643", TimePoint(3h), true);
  seen = sightings.besides("nb", {}, {});
  ASSERT_EQ(seen.size(), 2U) << "they take turns";
  EXPECT_TRUE(seen[0].still && seen[0].server == kServer);
  sightings.hear("check vip", Opinion{});
  EXPECT_EQ(sightings.besides("nb", {}, {}).size(), 2U) << "nobody answers";
  sightings.forget("check vip");
  EXPECT_TRUE(sightings.besides("nb", {}, {}).empty());
}

TEST(Sightings, WhoAnswersAtTheRaftAddressOfAnotherHasReplacedIt) {
  for (const std::string& address : {kAddress, std::string("tcp:10.0.0.2:6643"), std::string()}) {
    Sightings sightings;
    Opinion first = answer(kServer, TimePoint(1h));
    Opinion second = answer(kCluster, TimePoint(2h));
    first.status->address = kAddress;
    second.status->address = address;
    sightings.hear("nb/ctl-1", first);
    sightings.hear("nb/ctl-1", second);
    const bool replaced = address == kAddress;
    EXPECT_EQ(sightings.besides("sb", {}, {}).size(), replaced ? 1U : 2U) << address;
    const auto own = sightings.besides("nb", {}, {});
    ASSERT_EQ(own.size(), replaced ? 0U : 1U) << "whom its own way reached before";
    if (!replaced) EXPECT_EQ(own.front().server, kServer);
  }
}

TEST(Sightings, OfOneAddressTheLatestThatAnsweredAreRemembered) {
  Sightings sightings;
  for (int i = 0; i < 40; ++i) {
    Opinion opinion = answer({static_cast<std::uint64_t>(i + 1), 7, 32}, TimePoint(1h));
    opinion.roams = true;
    sightings.hear("check vip", opinion);
  }
  EXPECT_EQ(sightings.besides("nb", {}, {}).size(), 33U);
}

/// One process has both databases, and one of them is in no entry: the other's look said nothing of
/// it, and the server was kicked.
TEST(Sightings, AProcessThatAnswersIsAliveInAllItsDatabases) {
  Sightings sightings;
  const MemberId north = kCluster;
  Opinion southbound = answer(kServer, TimePoint(2h));
  southbound.neighbours.emplace();
  southbound.neighbours->push_back({"OVN_Northbound", north, {}, kAddress});
  southbound.neighbours_at = TimePoint(1h);
  const std::string by = Sightings::member("sb", "ctl-4");
  const auto of_north = [&]() -> std::optional<Sighting> {
    for (const Sighting& seen : sightings.besides("nb", {}, {})) {
      if (seen.server == north || !seen.server.known()) return seen;
    }
    return std::nullopt;
  };
  sightings.hear(by, southbound);
  ASSERT_TRUE(of_north());
  EXPECT_EQ(of_north()->by, "sb/ctl-4, which also has OVN_Northbound");
  EXPECT_EQ(of_north()->database, "OVN_Northbound");
  EXPECT_EQ(of_north()->address, kAddress);
  EXPECT_EQ(of_north()->at, TimePoint(1h)) << "when it said so";
  EXPECT_TRUE(of_north()->still);
  EXPECT_TRUE(sightings.besides("sb", {}, {}).empty()) << "its own members";
  Opinion silent;
  sightings.hear(by, silent);
  EXPECT_FALSE(of_north()->still) << "it may hang, and then so does this one";
  EXPECT_FALSE(of_north()->refused);
  silent.status_source.reason.code = silent.local_source.reason.code = ReasonCode::kRefused;
  sightings.hear(by, silent);
  EXPECT_TRUE(of_north()->refused);
  southbound.neighbours->front().server_id = {};
  sightings.forget(by);
  EXPECT_FALSE(of_north());
  sightings.hear(by, southbound);
  ASSERT_TRUE(of_north()) << "it does not say which one it is";
  EXPECT_FALSE(of_north()->still);
  southbound.neighbours->clear();
  sightings.hear(by, southbound);
  EXPECT_FALSE(of_north()) << "it has left it";
}

TEST(Sightings, ThatAnotherProcessLacksADatabaseSaysNothingOfTheFirst) {
  Sightings sightings;
  Opinion first = answer(kServer, TimePoint(1h));
  first.roams = true;
  first.neighbours.emplace();
  first.neighbours->push_back({"OVN_Northbound", kCluster, {}, kAddress});
  sightings.hear("check vip", first);
  Opinion second = answer(*parse_member_id("24302e3d-dac6-4762-a00e-834c7c7479df"), TimePoint(2h));
  second.roams = true;
  second.neighbours.emplace();
  sightings.hear("check vip", second);
  EXPECT_EQ(sightings.besides("nb", {}, {}).size(), 3U);
}

}  // namespace
}  // namespace wardmote::judge::raft
