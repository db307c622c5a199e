#include <gtest/gtest.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>

#include "cli/explain/code.h"
#include "cli/explain/incident.h"
#include "cli/explain/subject.h"
#include "cli/render/explanation.h"
#include "unit/cli/fixture.h"

namespace wardmote::cli {
namespace {

namespace json = boost::json;

constexpr Style kPlain{.color = false};

json::value status_with_a_stale_member() {
  return json::object{{"clusters", json::array{api_answer("cluster-stale-member.json")}},
                      {"checks", json::array{}}};
}

json::value subject(std::string_view name) {
  return explain_subject(name, status_with_a_stale_member()).value();
}

std::size_t count(const json::value& explained, const char* key) {
  return explained.at(key).as_array().size();
}

// It said that nothing is known by that name.
TEST(ExplainSubject, ShowsAThingThatIsWell) {
  const json::value status = json::parse(R"({"etcd": [{"etcd": "kube", "verdict": "ok",
    "quorum": {"voters": 1, "live": 1}, "findings": [], "observed": [],
    "members": [{"member": "a", "outcome": "ok", "facts": {"member_id": "8e9e05c52164694d"}}]}]})");
  for (const char* const name : {"kube", "etcd/kube", "a", "8e9e05c52164694d"}) {
    const std::string drawn = draw_subject(explain_subject(name, status).value(), kPlain);
    EXPECT_TRUE(drawn.contains("kube  etcd cluster of 1 member")) << drawn;
    EXPECT_TRUE(drawn.contains("No finding names it.")) << drawn;
    EXPECT_FALSE(drawn.contains("FSYNC")) << drawn << "nobody asks for its metrics";
  }
}

TEST(ExplainSubject, ShowsHowFastTheDiskOfAMemberIsWhereThatIsKnown) {
  const json::value status = json::parse(R"({"etcd": [{"etcd": "kube", "verdict": "ok",
    "quorum": {"voters": 3, "live": 3}, "findings": [], "observed": [], "members": [
      {"member": "a", "outcome": "ok", "metrics": {"reason": null, "wal_fsync_p99_us": 1990}},
      {"member": "b", "outcome": "ok", "metrics": {"reason": "refused", "wal_fsync_p99_us": null}},
      {"member": "c", "outcome": "ok", "metrics": null}]}]})");
  const std::string drawn = draw_subject(explain_subject("kube", status).value(), kPlain);
  EXPECT_TRUE(drawn.contains("  FSYNC P99 ")) << drawn;
  EXPECT_TRUE(drawn.contains("  2.0 ms ")) << drawn;
  EXPECT_TRUE(drawn.contains("  unknown: refused ")) << drawn;
}

TEST(ExplainCode, QuotesTheEvidenceOfWhatStandsNow) {
  const json::value explained =
      explain_code(judge::info(judge::Code::kRaftStaleMember), status_with_a_stale_member());
  const std::string drawn = draw_code(explained, kPlain);
  EXPECT_TRUE(drawn.starts_with("RAFT_STALE_MEMBER  CRITICAL, raised after 1 election round\n"))
      << drawn;
  EXPECT_TRUE(drawn.contains(
      "\n  cp1 says: \"e85f (e85f at ssl:10.200.1.14:6644) next_index=9031 match_index=0 "
      "last msg 192000 ms ago\"\n"))
      << drawn;
  EXPECT_TRUE(drawn.contains("  since: 2026-11-20T09:09:32.125Z\n")) << drawn;
  EXPECT_TRUE(drawn.contains(
      "on cp1: ovn-appctl -t /run/ovn/ovnsb_db.ctl cluster/kick OVN_Southbound e85f\n"))
      << drawn;
  EXPECT_EQ(explained.at("findings").at(0).at("cluster"), "ovn-sb");
}

TEST(ExplainIncident, SaysWhatEachOfItsCodesMeans) {
  EXPECT_EQ(incident_number("17"), 17);
  EXPECT_EQ(incident_number("#1701"), 1701);
  EXPECT_EQ(incident_number("1701"), std::nullopt) << "a server id";
  for (const char* no : {"", "#", "0", "-3", "17a", "#x"}) EXPECT_FALSE(incident_number(no)) << no;
  const json::value incident = json::parse(R"({"id":17,"root":"cluster:nb","phase":"open",
      "code":"RAFT_NO_QUORUM","severity":"critical","summary":"no quorum","opened":"2026-11-20T09:00:00.000Z","since":"2026-11-20T09:00:00.000Z",
      "standing":[{"code":"RAFT_NO_QUORUM","component":"cluster:nb","summary":"no quorum"},
                  {"code":"CHECK_FAILED","component":"check:bird","summary":"bird fails"},
                  {"code":"OF_TOMORROW","component":"check:x","summary":"?"}]})");
  const json::value explained = explain_incident(incident);
  EXPECT_EQ(explained.at("explained").as_array().size(), 2U);
  const std::string drawn = draw_explained_incident(explained, kPlain);
  EXPECT_TRUE(drawn.starts_with("#17 CRITICAL RAFT_NO_QUORUM  cluster:nb  open\n")) << drawn;
  EXPECT_LT(drawn.find("\nRAFT_NO_QUORUM  CRITICAL, raised"), drawn.find("\nCHECK_FAILED  "));
  EXPECT_TRUE(drawn.contains("\n  what to do: ")) << drawn;
}

TEST(ExplainCode, SaysWhenNothingHasTheCode) {
  const json::value explained =
      explain_code(judge::info(judge::Code::kRaftNoQuorum), status_with_a_stale_member());
  EXPECT_TRUE(draw_code(explained, kPlain).ends_with("\nNothing has this code now.\n"));
}

// What is general may say the contrary of what was computed for the case.
TEST(ExplainCode, AFindingThatStandsHasAdviceOfItsOwn) {
  const std::string drawn = draw_code(
      explain_code(judge::info(judge::Code::kRaftStaleMember), status_with_a_stale_member()),
      kPlain);
  EXPECT_FALSE(drawn.contains("\n  what to do: ")) << drawn;
  EXPECT_TRUE(drawn.contains("remove the dead server")) << drawn;
  // One that has none leaves the general one.
  json::object bare = catalogue_entry(judge::info(judge::Code::kCheckFailed));
  bare["findings"] = json::array{json::object{{"code", "CHECK_FAILED"}, {"severity", "critical"}}};
  EXPECT_TRUE(draw_code(bare, kPlain).contains("\n  what to do: "));
}

TEST(ExplainCode, WithoutAnAgentSaysNothingOfNow) {
  const std::string drawn =
      draw_code(catalogue_entry(judge::info(judge::Code::kRaftNoQuorum)), kPlain);
  EXPECT_TRUE(drawn.contains("\n  what to do: ")) << drawn;
  EXPECT_FALSE(drawn.contains("now")) << drawn;
}

TEST(ExplainCode, EveryRowOfTheCatalogueCanBeExplained) {
  for (const judge::CodeInfo& row : judge::catalogue()) {
    const std::string drawn = draw_code(catalogue_entry(row), kPlain);
    EXPECT_TRUE(drawn.contains(row.meaning)) << row.name;
    EXPECT_TRUE(drawn.contains(row.advice)) << row.name;
  }
}

TEST(ExplainSubject, AMemberByItsNameIdOrAddress) {
  for (const char* name : {"cp2", "b8af", "B8AFBBBB", "b8afbbbb-0000-4000-8000-000000000002",
                           "ssl:10.200.1.12:6644", "10.200.1.12:6644", "10.200.1.12"}) {
    const json::value explained = subject(name);
    ASSERT_EQ(count(explained, "members"), 1U) << name;
    EXPECT_EQ(explained.at("members").at(0).at("name"), "cp2") << name;
    // cp1 lists it; its own line about itself is no witness.
    ASSERT_EQ(count(explained, "seen_by"), 1U) << name;
    EXPECT_EQ(explained.at("seen_by").at(0).at("by"), "cp1") << name;
    EXPECT_EQ(count(explained, "findings"), 0U) << name;
  }
}

TEST(ExplainSubject, AGhostThatOnlyOthersKnow) {
  const json::value explained = subject("e85f");
  EXPECT_EQ(count(explained, "members"), 0U);
  EXPECT_EQ(count(explained, "seen_by"), 2U);
  EXPECT_EQ(count(explained, "findings"), 1U);
  const std::string drawn = draw_subject(explained, kPlain);
  EXPECT_TRUE(drawn.contains(
      "  cp1 lists e85f at ssl:10.200.1.14:6644, match index 0, last message 3m12s ago\n"))
      << drawn;
  EXPECT_TRUE(drawn.contains("CRITICAL RAFT_STALE_MEMBER")) << drawn;
}

TEST(ExplainSubject, AMemberThatOthersKnowUnderAnotherIdIsFoundByItsAddress) {
  const json::value explained = subject("cp3");
  ASSERT_EQ(count(explained, "members"), 1U);
  EXPECT_EQ(count(explained, "seen_by"), 2U);
  EXPECT_EQ(count(explained, "findings"), 1U);
}

TEST(ExplainSubject, AClusterWithAllThatIsWrongWithIt) {
  const json::value explained = subject("ovn-sb");
  EXPECT_EQ(count(explained, "clusters"), 1U);
  EXPECT_EQ(count(explained, "findings"), 1U);
}

TEST(ExplainSubject, ACheck) {
  const json::value explained = explain_subject("db-port", api_answer("status.json")).value();
  EXPECT_EQ(count(explained, "checks"), 1U);
  EXPECT_TRUE(draw_subject(explained, kPlain).contains("error 2/3"));
}

TEST(ExplainSubject, WhatStatusPrintsAsAName) {
  EXPECT_EQ(count(subject("cluster/ovn-sb"), "clusters"), 1U);
  EXPECT_EQ(count(explain_subject("check/db-port", api_answer("status.json")).value(), "checks"),
            1U);
  EXPECT_FALSE(explain_subject("cluster/", api_answer("status.json")));
}

TEST(ExplainSubject, SaysThatNothingHasTheName) {
  for (const char* name : {"cp9", "", "7", "77", "ssl:", "10.200.1", "0000", "\x1b[2J"}) {
    const Result<json::value> explained = explain_subject(name, status_with_a_stale_member());
    ASSERT_FALSE(explained.has_value()) << name;
    EXPECT_EQ(explained.error().code, Errc::kInvalid);
    EXPECT_EQ(explained.error().context.find('\x1b'), std::string::npos);
  }
}

/// A status with two checks that fail, and the incident of both.
json::value outage() {
  json::value status = api_answer("status.json");
  json::object web = status.at("checks").at(0).as_object();
  web["name"] = "web";
  web["kind"] = "http";
  web["state"] = "reported";
  web["blind"] = false;
  web["exit_code"] = 2;
  web["detail"] = "refused";
  json::object blind = web;
  blind["name"] = "dark";
  blind["state"] = "healthy";
  blind["blind"] = true;
  blind["detail"] = "permission denied";
  status.as_object()["checks"] = json::array{web, blind};
  status.as_object()["more"] =
      json::parse(R"({"incidents":[{"id":7,"root":"check:host","phase":"open",
      "code":"CHECK_FAILED","severity":"critical","summary":"host fails: unreachable","names":["host"],
      "opened":"2026-11-20T09:00:00.000Z","since":"2026-11-20T09:00:00.000Z","symptoms":2,
      "standing":[{"code":"CHECK_FAILED","component":"check:host","summary":"host fails: unreachable"},
                  {"code":"CHECK_FAILED","component":"check:web","summary":"web fails: refused"}]},
      {"id":8,"root":"storm:tcp","phase":"open","code":"CHECK_FAILED","severity":"critical",
       "summary":"30 of 60","names":["a"],"standing":[]}]})");
  return status;
}

TEST(ExplainSubject, ACheckThatFailsIsNamedByItsFailureAndItsIncident) {
  for (const char* const name : {"web", "check:web"}) {
    const Result<json::value> explained = explain_subject(name, outage());
    ASSERT_TRUE(explained) << name;
    EXPECT_EQ(count(*explained, "checks"), 1U) << name;
    ASSERT_EQ(count(*explained, "findings"), 1U) << name;
    EXPECT_EQ(explained->at("findings").at(0).at("code"), "CHECK_FAILED");
    EXPECT_EQ(explained->at("findings").at(0).at("summary"), "web fails: refused");
    ASSERT_EQ(count(*explained, "incidents"), 1U) << name;
    EXPECT_EQ(explained->at("incidents").at(0).at("id"), 7);
    const std::string drawn = draw_subject(*explained, kPlain);
    EXPECT_FALSE(drawn.contains("No finding names it")) << drawn;
    EXPECT_TRUE(drawn.contains("#7 CRITICAL CHECK_FAILED  check:host")) << drawn;
    EXPECT_TRUE(drawn.contains("CRITICAL CHECK_FAILED  for ")) << drawn;
    EXPECT_FALSE(drawn.contains("since: \n")) << drawn;
  }
}

TEST(ExplainCode, AFailedCheckIsWhereTheCodeStands) {
  const json::value failed = explain_code(judge::info(judge::Code::kCheckFailed), outage());
  ASSERT_EQ(count(failed, "findings"), 1U);
  EXPECT_EQ(failed.at("findings").at(0).at("summary"), "web fails: refused");
  EXPECT_EQ(count(failed, "incidents"), 2U);
  const std::string drawn = draw_code(failed, kPlain);
  EXPECT_TRUE(drawn.contains("#7 CRITICAL CHECK_FAILED  check:host")) << drawn;
  EXPECT_TRUE(drawn.contains("web fails: refused")) << drawn;
  EXPECT_FALSE(drawn.contains("has this code now")) << drawn;

  const json::value blind = explain_code(judge::info(judge::Code::kMonitorBlind), outage());
  ASSERT_EQ(count(blind, "findings"), 1U);
  EXPECT_FALSE(draw_code(blind, kPlain).contains("has this code now"));
}

/// The incident has the code of its cause; what it was raised for stands in it.
TEST(ExplainCode, TheSymptomsOfAnIncidentCount) {
  json::value status = outage();
  status.as_object()["checks"] = json::array{};
  status.at("more").at("incidents").at(0).as_object()["code"] = "RAFT_NO_QUORUM";
  const json::value failed = explain_code(judge::info(judge::Code::kCheckFailed), status);
  EXPECT_EQ(count(failed, "findings"), 0U);
  EXPECT_EQ(count(failed, "incidents"), 2U);
  EXPECT_FALSE(draw_code(failed, kPlain).contains("has this code now"));
}

TEST(ExplainSubject, ACheckThatIsNotSeenIsNamedToo) {
  const json::value explained = explain_subject("dark", outage()).value();
  ASSERT_EQ(count(explained, "findings"), 1U);
  EXPECT_EQ(explained.at("findings").at(0).at("code"), "MONITOR_BLIND");
}

TEST(ExplainSubject, TheRootOfAnIncidentIsKnownWhateverItIs) {
  for (const char* const root : {"check:host", "host", "storm:tcp"}) {
    const Result<json::value> explained = explain_subject(root, outage());
    ASSERT_TRUE(explained) << root;
    EXPECT_EQ(count(*explained, "incidents"), 1U) << root;
    EXPECT_FALSE(draw_subject(*explained, kPlain).contains("No finding names it")) << root;
  }
  EXPECT_FALSE(explain_subject("check:nobody", outage()));
}

}  // namespace
}  // namespace wardmote::cli
