#include "cli/doctor/diagnosis.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "cli/doctor/tar.h"
#include "cli/render/fields.h"
#include "unit/cli/fixture.h"

namespace wardmote::cli {
namespace {

namespace json = boost::json;
using judge::Outcome;

const Diagnosis* find(const std::vector<Diagnosis>& diagnoses, std::string_view what) {
  const auto found = std::ranges::find(diagnoses, what, &Diagnosis::what);
  return found == diagnoses.end() ? nullptr : &*found;
}

TEST(Doctor, FindsNothingWrongWithAWellMachine) {
  const auto found = diagnose({.clock_synchronised = true,
                               .agent_descriptors = 20,
                               .agent_limit = 1024,
                               .socket_mode = 0660,
                               .cpu_pressure = 3});
  EXPECT_EQ(found.size(), 3U);
  EXPECT_EQ(exit_of(found), Exit::kGood);
}

TEST(Doctor, SaysWhatToDoAboutAnIllOne) {
  const auto found = diagnose({.clock_synchronised = false,
                               .agent_descriptors = 600,
                               .agent_limit = 1024,
                               .socket_mode = 0666,
                               .cpu_pressure = 80});
  for (const char* what : {"clock", "descriptors", "socket", "cpu"}) {
    const Diagnosis* const one = find(found, what);
    ASSERT_NE(one, nullptr) << what;
    EXPECT_EQ(one->outcome, Outcome::kWarn) << what;
    EXPECT_FALSE(one->advice.empty()) << what;
  }
  EXPECT_EQ(exit_of(found), Exit::kWarning);
  EXPECT_EQ(exit_of(diagnose({})), Exit::kUnknown) << "what cannot be seen is not good";
}

TEST(Doctor, NamesWhatTheAgentMayNotOpenInOneLine) {
  const auto found = diagnose_status(json::parse(R"({"version": "1", "config": null,
    "checks": [{"name": "bird", "kind": "bird", "reason": "denied"}, {"name": "fine", "kind": "tcp", "reason": null},
               {"name": "nb", "kind": "cluster", "reason": "denied"}],
    "clusters": [{"cluster": "nb", "members": [{"name": "ctl-1", "reason": "denied"}, {"name": "ctl-2", "reason": "hung"}]}]})"),
                                     "1");
  const Diagnosis* const looks = find(found, "looks");
  ASSERT_NE(looks, nullptr);
  EXPECT_EQ(looks->says, "bird, nb/ctl-1: may not be opened by the agent");
  EXPECT_TRUE(looks->advice.contains("group"));
  EXPECT_EQ(exit_of(found), Exit::kCritical);
}

TEST(Doctor, TellsOfARefusedConfigurationAndAnotherVersion) {
  const auto found =
      diagnose_status(json::parse(R"({"version": "1", "self": {"complaint": "prober starved"},
        "config": {"path": "/etc/w.yaml", "hash": "ab", "refused": {"problems": ["/etc/w.yaml:1:1: bad", "worse"]}}})"),
                      "2");
  EXPECT_EQ(find(found, "version")->outcome, Outcome::kWarn);
  EXPECT_EQ(find(found, "agent")->says, "degraded: prober starved");
  EXPECT_TRUE(find(found, "configuration")->says.contains("/etc/w.yaml:1:1: bad"));
  EXPECT_TRUE(find(found, "configuration")->advice.contains("wardmote config check /etc/w.yaml"));
}

TEST(Doctor, BelievesNothingThatAnAnswerIsNot) {
  for (const char* text : {"null", "[]", R"({"checks": 3, "clusters": [[]], "config": "x"})"}) {
    const auto found = diagnose_status(json::parse(text), "1");
    EXPECT_FALSE(draw_diagnoses(to_json(found), {}).empty());
  }
}

TEST(Doctor, DrawsOneLineEachAndWhatToDo) {
  EXPECT_EQ(draw_diagnoses(to_json({{"agent", Outcome::kOk, "answers"},
                                    {"clock", Outcome::kWarn, "not set", "set it"}}),
                           {}),
            "ok       agent: answers\nwarn     clock: not set\n         do: set it\n");
}

/// What tar(1) itself reads of it.
TEST(Tar, IsReadByTar) {
  Tar tar(1'700'000'000);
  tar.add("wardmote/a.txt", "hello\n");
  tar.add("wardmote/empty", "");
  tar.add("wardmote/b.txt", std::string(512, 'x'));
  const std::string file =
      testing::TempDir() + "wardmote-tar-" + std::to_string(::getpid()) + ".tar";
  std::ofstream(file, std::ios::binary) << std::move(tar).take();
  std::FILE* const listing = ::popen(("tar -tvf " + file + " 2>&1").c_str(), "r");
  std::string text;
  for (int c = std::fgetc(listing); c != EOF; c = std::fgetc(listing)) text += static_cast<char>(c);
  EXPECT_EQ(::pclose(listing), 0) << text;
  std::filesystem::remove(file);
  EXPECT_EQ(std::ranges::count(text, '\n'), 3) << text;
  EXPECT_TRUE(text.contains("-rw------- 0/0               6 2023-11-14")) << text;
  EXPECT_TRUE(text.contains("wardmote/b.txt")) << text;
}

}  // namespace
}  // namespace wardmote::cli
