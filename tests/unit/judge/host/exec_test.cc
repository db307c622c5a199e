#include "judge/host/exec.h"

#include <gtest/gtest.h>

namespace wardmote::judge {
namespace {

TEST(Exec, OnlyASignalIsCalledOne) {
  const auto reason = [](int exit_code) {
    ExecFacts facts;
    facts.exit_code = exit_code;
    return judge_exec(facts, ExitStyle::kScript);
  };
  EXPECT_EQ(reason(128 + 9).reason.text, "ended by signal 9");
  EXPECT_EQ(reason(128 + 64).reason.text, "ended by signal 64");
  // ssh, when it cannot connect.
  EXPECT_EQ(reason(255).reason.text, "exit code 255");
  EXPECT_EQ(reason(255).outcome, Outcome::kUnknown) << "nobody looked at the thing";
  EXPECT_EQ(reason(128).reason.text, "exit code 128");
  EXPECT_EQ(reason(128).outcome, Outcome::kFail);
}

}  // namespace
}  // namespace wardmote::judge
