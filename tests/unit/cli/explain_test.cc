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
      "code":"RAFT_NO_QUORUM","severity":"critical","summary":"no quorum","opened":"2026-11-20T09:00:00.000Z",
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

TEST(ExplainCode, SaysWhenItStandsNowhere) {
  const json::value explained =
      explain_code(judge::info(judge::Code::kRaftNoQuorum), status_with_a_stale_member());
  EXPECT_TRUE(draw_code(explained, kPlain).ends_with("\nIt stands nowhere now.\n"));
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

TEST(ExplainSubject, SaysThatNothingHasTheName) {
  for (const char* name : {"cp9", "", "7", "77", "ssl:", "10.200.1", "0000", "\x1b[2J"}) {
    const Result<json::value> explained = explain_subject(name, status_with_a_stale_member());
    ASSERT_FALSE(explained.has_value()) << name;
    EXPECT_EQ(explained.error().code, Errc::kInvalid);
    EXPECT_EQ(explained.error().context.find('\x1b'), std::string::npos);
  }
}

}  // namespace
}  // namespace wardmote::cli
