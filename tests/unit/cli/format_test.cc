#include "cli/format.h"

#include <gtest/gtest.h>

#include <string>

#include "base/text.h"
#include "cli/command_table.h"
#include "cli/man.h"
#include "cli/parse.h"
#include "cli/render/checks.h"
#include "cli/render/cluster.h"
#include "cli/render/fields.h"
#include "cli/render/top.h"
#include "observe/kinds.h"
#include "unit/cli/fixture.h"

namespace wardmote::cli {
namespace {

namespace json = boost::json;

std::vector<std::string> two_names(const json::value&) {
  return {"cluster/nb", "check/a"};
}

TEST(Formats, AreThoseOfTheOption) {
  const Command program = command_table(observe::probe_kinds);
  const auto format = [&](std::vector<std::string> words) {
    const Parsed parsed = parse(program, std::move(words));
    const Call* const call = std::get_if<Call>(&parsed);
    EXPECT_NE(call, nullptr);
    return call == nullptr ? Format::kTable : format_of(*call);
  };
  EXPECT_EQ(format({"status"}), Format::kTable);
  EXPECT_EQ(format({"status", "-o", "wide"}), Format::kWide);
  EXPECT_EQ(format({"get", "members", "-o", "jsonl"}), Format::kJsonLines);
  EXPECT_EQ(format({"get", "checks", "--output=yaml"}), Format::kYaml);
  EXPECT_EQ(format({"top", "-o", "name"}), Format::kNames);
  EXPECT_EQ(format({"version", "-o", "json"}), Format::kJson);
}

TEST(Formats, EveryReadingVerbHasThemAll) {
  const Command program = command_table(nullptr);
  for (const char* verb :
       {"status", "get members", "get findings", "get checks", "top", "explain x"}) {
    for (const char* word : {"table", "wide", "json", "jsonl", "yaml", "name"}) {
      std::vector<std::string> words;
      for (const std::string_view part : split(verb, ' ')) words.emplace_back(part);
      words.insert(words.end(), {"-o", word});
      EXPECT_TRUE(std::holds_alternative<Call>(parse(program, words))) << verb << " -o " << word;
    }
  }
}

TEST(Formats, ANameIsWhatExplainTakes) {
  const json::value shown = json::parse(R"({"clusters": [{"cluster": "nb"}],
      "members": [{"cluster": "nb", "name": "ctl-1"}], "incidents": [{"id": 7}]})");
  using Names = std::vector<std::string>;
  EXPECT_EQ(names_in(shown, "clusters", "cluster"), (Names{"nb"}));
  EXPECT_EQ(names_in(shown, "members", "name"), (Names{"nb/ctl-1"}));
  EXPECT_EQ(names_in(shown, "incidents", "id"), (Names{"7"}));
}

TEST(Formats, WriteTheSameForPrograms) {
  const json::value shown =
      json::parse(R"({"at": "now", "checks": [{"name": "a"}, {"name": "b\u202e"}]})");
  const Shape shape{"checks", two_names};
  EXPECT_EQ(written(Format::kJson, shown, shape),
            "{\"at\":\"now\",\"checks\":[{\"name\":\"a\"},{\"name\":\"b\\u202e\"}]}\n");
  EXPECT_EQ(written(Format::kJsonLines, shown, shape),
            "{\"name\":\"a\"}\n{\"name\":\"b\\u202e\"}\n");
  EXPECT_EQ(written(Format::kYaml, shown, shape),
            "at: now\nchecks:\n  - name: a\n  - name: \"b\\u202e\"\n");
  EXPECT_EQ(written(Format::kNames, shown, shape), "cluster/nb\ncheck/a\n");
  EXPECT_EQ(written(Format::kJsonLines, shown), written(Format::kJson, shown))
      << "what has no parts is one line";
}

TEST(WideTables, HaveMoreColumnsAndTheReasonLast) {
  const json::value status = api_answer("status.json");
  const Style wide{.wide = true};
  const std::string checks = draw_checks(Fields(status).list("checks"), wide);
  EXPECT_TRUE(checks.contains("TOOK  EVERY  LOOKS  MISSED  REASON")) << checks;
  const std::string members = draw_cluster_head(Fields(status).list("clusters").front(), wide);
  EXPECT_TRUE(members.contains("SERVER-ID")) << members;
  EXPECT_TRUE(members.contains("UNAPPLIED  TIMER  VERDICT")) << members;
}

TEST(Top, ShowsWhatIsWorstFirst) {
  const json::value status = json::parse(R"({
    "node": "ctl-1", "version": "1", "verdict": "critical", "uptime_ms": 1000,
    "clusters": [{"cluster": "nb", "database": "OVN_Northbound", "verdict": "ok", "leader": "ctl-2",
                  "quorum": {"voters": 3, "live": 3}, "members": [{"outcome": "ok"}, {"outcome": "fail"}], "findings": []}],
    "checks": [{"name": "nb", "kind": "cluster", "exit_code": 0}, {"name": "fine", "kind": "tcp", "exit_code": 0},
               {"name": "lost", "kind": "tcp", "exit_code": 3}, {"name": "dead", "kind": "tcp", "exit_code": 2}]})");
  const std::string drawn = draw_top(status, {});
  EXPECT_TRUE(drawn.contains("nb       OVN_Northbound  HEALTHY  ctl-2   3/3     1/2     0"))
      << drawn;
  EXPECT_LT(drawn.find("dead"), drawn.find("lost")) << drawn;
  EXPECT_LT(drawn.find("lost"), drawn.find("fine")) << drawn;
  EXPECT_FALSE(drawn.contains("cluster ")) << "a cluster is not a check here\n" << drawn;
  EXPECT_NE(draw_top(json::parse("[]"), {}), "") << "whatever the agent answers";
}

TEST(ManPage, HasEveryCommandAndNoStrayRequest) {
  const Command program = command_table(observe::probe_kinds);
  const std::string page = man_page(program);
  EXPECT_TRUE(page.starts_with(".TH wardmote 1 "));
  for (const char* part : {".SH NAME\nwardmote \\- ", ".SS wardmote get members [options]\n",
                           ".SS wardmote probe tcp TARGET [options]\n",
                           "\\fB\\-o, \\-\\-output table|wide|json|jsonl|yaml|name\\fR\n"}) {
    EXPECT_TRUE(page.contains(part)) << part;
  }
  for (const std::string_view line : split(page, '\n')) {
    if (!line.starts_with('.')) continue;
    const std::string_view request = line.substr(0, line.find(' '));
    EXPECT_TRUE(request == ".TH" || request == ".SH" || request == ".SS" || request == ".TP" ||
                request == ".PP" || request == ".B" || request == ".BR" || request == ".nf" ||
                request == ".fi")
        << line;
  }
}

}  // namespace
}  // namespace wardmote::cli
