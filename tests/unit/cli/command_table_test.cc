#include "cli/command_table.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "base/text.h"
#include "cli/common_options.h"
#include "cli/help.h"
#include "cli/parse.h"
#include "support/test_data.h"
#include "support/written_page.h"
#include "unit/cli/fixture.h"

namespace wardmote::cli {
namespace {

/// Every command with the words that lead to it.
void walk(std::vector<const Command*> path, std::vector<std::vector<const Command*>>& all) {
  all.push_back(path);
  for (const Command& child : path.back()->commands) {
    std::vector<const Command*> below = path;
    below.push_back(&child);
    walk(std::move(below), all);
  }
}

class CommandTable : public ::testing::Test {
 protected:
  CommandTable() { walk({&program_}, paths_); }

  Command program_ = command_table(observe::probe_kinds);
  std::vector<std::vector<const Command*>> paths_;
};

TEST_F(CommandTable, EveryCommandSaysWhatItDoes) {
  for (const auto& path : paths_) {
    const Command& command = *path.back();
    EXPECT_FALSE(command.summary.empty()) << spelled(path);
    EXPECT_FALSE(command.summary.ends_with('.')) << spelled(path);
    EXPECT_NE(command.run == nullptr, command.commands.empty()) << spelled(path);
    for (const Option& option : command.options)
      EXPECT_FALSE(option.help.empty()) << spelled(path) << option.name;
    for (const Argument& argument : command.arguments)
      EXPECT_FALSE(argument.help.empty()) << spelled(path);
  }
}

TEST_F(CommandTable, NoOptionIsDeclaredTwice) {
  for (const auto& path : paths_) {
    std::set<std::string> seen{"help", "h"};
    for (const Option& option : path.back()->options) {
      EXPECT_TRUE(seen.insert(option.name).second) << spelled(path) << " --" << option.name;
      if (option.letter != 0)
        EXPECT_TRUE(seen.insert(std::string(1, option.letter)).second) << spelled(path);
    }
  }
}

TEST_F(CommandTable, EveryExampleIsAccepted) {
  for (const auto& path : paths_) {
    for (const Example& example : path.back()->examples) {
      std::vector<std::string> words;
      std::string_view line = example.line;
      if (!line.starts_with("wardmote ")) continue;  // inside `source <(…)`
      line = line.substr(0, line.find_first_of("|>"));
      for (const std::string_view word : split(trim(line), ' ')) words.emplace_back(word);
      words.erase(words.begin());
      const Parsed parsed = parse(program_, words);
      const auto* error = std::get_if<UsageError>(&parsed);
      EXPECT_TRUE(std::holds_alternative<Call>(parsed))
          << example.line << ": " << (error ? error->what : "help");
    }
  }
}

TEST_F(CommandTable, AVerbThatIsAskedForAloneIsTheSame) {
  for (const Command& command : program_.commands) {
    const Command alone = command_table(observe::probe_kinds, command.name);
    ASSERT_EQ(alone.commands.size(), 1U) << command.name;
    const std::vector<const Command*> of_all{&program_, &command};
    const std::vector<const Command*> of_one{&alone, &alone.commands.front()};
    EXPECT_EQ(help(of_one), help(of_all));
  }
  EXPECT_EQ(command_table(observe::probe_kinds, "no-such-verb").commands.size(),
            program_.commands.size())
      << "so that the complaint can name what there is";
}

TEST_F(CommandTable, HelpIsShownForEveryCommand) {
  for (const auto& path : paths_) {
    const std::string page = help(path);
    EXPECT_TRUE(page.contains("\nUsage: " + spelled(path))) << page;
    EXPECT_TRUE(page.contains("-h, --help")) << page;
  }
}

TEST_F(CommandTable, IsWhatTheManualSays) {
  const std::string file = std::string(WARDMOTE_TEST_DATA) + "/../../docs/cli.md";
  const std::string begin =
      "<!-- from the command table: WARDMOTE_WRITE_DOCS=1 unit_cli writes it anew -->\n";
  const std::string manual = read_text(file);
  const std::size_t at = manual.find(begin);
  ASSERT_NE(at, std::string::npos) << "docs/cli.md has lost its mark";
  // Without the kinds of probes: each has a page of its own, and a new kind touches no other.
  const std::string expected =
      manual.substr(0, at) + begin + markdown(command_table(nullptr), reading_options());
  EXPECT_TRUE(test::is_written(file, expected));
}

}  // namespace
}  // namespace wardmote::cli
