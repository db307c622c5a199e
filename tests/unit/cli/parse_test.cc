#include "cli/parse.h"

#include <gtest/gtest.h>

#include <chrono>

namespace wardmote::cli {
namespace {

using namespace std::chrono_literals;

Exit run_nothing(const Call&) {
  return Exit::kGood;
}

/// A small program with one of everything; not the real table.
Command fake_program() {
  return {
      .name = "ward",
      .summary = "for tests",
      .commands = {{.name = "look",
                    .summary = "look",
                    .arguments = {{.name = "TARGET", .help = "", .required = false}},
                    .options = {{.name = "output",
                                 .value = "table|json",
                                 .help = "",
                                 .letter = 'o',
                                 .choices = {"table", "json"}},
                                {.name = "watch", .value = "INTERVAL", .help = "", .implied = "1s"},
                                {.name = "for", .value = "DURATION", .help = ""},
                                {.name = "count", .value = "N", .help = ""},
                                {.name = "quiet", .value = "", .help = "", .letter = 'q'},
                                {.name = "tag", .value = "TAG", .help = "", .repeats = true}},
                    .run = run_nothing},
                   {.name = "version", .summary = "version", .run = run_nothing},
                   {.name = "group",
                    .summary = "group",
                    .commands = {{.name = "leaf",
                                  .summary = "leaf",
                                  .options = {{.name = "member",
                                               .value = "M",
                                               .help = "",
                                               .required = true,
                                               .repeats = true}},
                                  .run = run_nothing}}}}};
}

const Command& program() {
  static const Command kProgram = fake_program();
  return kProgram;
}

Parsed parsed(std::vector<std::string> words) {
  return parse(program(), std::move(words));
}

Call call(std::vector<std::string> words) {
  Parsed result = parsed(std::move(words));
  if (auto* error = std::get_if<UsageError>(&result)) ADD_FAILURE() << error->what;
  return std::get<Call>(std::move(result));
}

std::string complaint(std::vector<std::string> words) {
  const Parsed result = parsed(std::move(words));
  const auto* error = std::get_if<UsageError>(&result);
  return error == nullptr ? "" : error->what;
}

TEST(Parse, FindsTheVerbItsArgumentsAndItsOptions) {
  const Call look = call({"look", "ovn-sb", "-o", "json", "-q", "--tag", "a", "--tag=b"});
  EXPECT_EQ(spelled(look.path()), "ward look");
  EXPECT_EQ(look.value("TARGET"), "ovn-sb");
  EXPECT_EQ(look.value("output"), "json");
  EXPECT_TRUE(look.has("quiet"));
  EXPECT_EQ(look.values("tag"), (std::vector<std::string>{"a", "b"}));
  EXPECT_FALSE(look.has("watch"));
  EXPECT_EQ(look.value("watch"), "");
}

TEST(Parse, ABareWatchDoesNotTakeTheNextWord) {
  const Call look = call({"look", "--watch", "ovn-sb"});
  EXPECT_EQ(look.value("watch"), "1s");
  EXPECT_EQ(look.value("TARGET"), "ovn-sb");
  EXPECT_EQ(call({"look", "--watch=5s"}).duration("watch", 0s), Result<Duration>(5s));
}

TEST(Parse, AnOptionMayRepeatOrTakeSeveralWhereNoArgumentFollows) {
  EXPECT_EQ(call({"group", "leaf", "--member", "a", "b", "--member", "c"}).values("member"),
            (std::vector<std::string>{"a", "b", "c"}));
  const Call look = call({"look", "--tag", "a", "ovn-sb"});
  EXPECT_EQ(look.values("tag"), std::vector<std::string>{"a"});
  EXPECT_EQ(look.value("TARGET"), "ovn-sb");
}

TEST(Parse, HelpIsHeardEverywhere) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{"--help"},
                                                {"help"},
                                                {"-h"},
                                                {"group", "--help"},
                                                {"group", "leaf", "-h"},
                                                {"look", "x", "--help"}}) {
    const Parsed result = parsed(words);
    ASSERT_TRUE(std::holds_alternative<HelpWanted>(result)) << words.front();
    EXPECT_TRUE(std::get<HelpWanted>(result).asked);
  }
  EXPECT_FALSE(std::get<HelpWanted>(parsed({})).asked);
  EXPECT_FALSE(std::get<HelpWanted>(parsed({"group"})).asked);
}

TEST(Parse, VersionIsUnderstoodAsAnOptionToo) {
  EXPECT_EQ(call({"--version"}).command().name, "version");
}

TEST(Parse, SaysWhatIsWrong) {
  EXPECT_EQ(complaint({"lok"}),
            "there is no 'lok' (did you mean look?); there are look, version, group");
  EXPECT_EQ(complaint({"group", "x\x1b[2J"}), "there is no 'x\\x1b[2J'; there are leaf");
  EXPECT_EQ(complaint({"--socket", "/x", "look"}),
            "options stand after the command, and '--socket' stands before it");
  EXPECT_EQ(complaint({""}), "an empty word");
  EXPECT_EQ(complaint({"look", "-o", "xml"}), "output: 'xml' is none of table, json");
  EXPECT_NE(complaint({"look", "--nonsense"}), "");
  EXPECT_NE(complaint({"look", "a", "b"}), "");
  EXPECT_NE(complaint({"group", "leaf"}), "");
  EXPECT_NE(complaint({"look", "-o"}), "");
}

TEST(Parse, NumbersAndDurationsAreCheckedWhenTheyAreRead) {
  const Call look = call({"look", "--for", "soon", "--count", "3x"});
  EXPECT_EQ(look.duration("for", 0s).error().context,
            "--for: 'soon' is not a duration; write 900ms, 20s, 5m or 1h");
  EXPECT_EQ(look.integer("count", 0).error().context, "--count: '3x' is not a whole number");
  EXPECT_EQ(call({"look", "--count", "3"}).integer("count", 0), Result<std::int64_t>(3));
  EXPECT_EQ(call({"look"}).integer("count", 7), Result<std::int64_t>(7));
}

}  // namespace
}  // namespace wardmote::cli
