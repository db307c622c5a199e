#include "judge/version_gate/report.h"

#include <gtest/gtest.h>

#include <string>

#include "judge/version_gate/admission.h"

namespace wardmote::judge::version_gate {
namespace {

Report waiting() {
  return {.gate = "g",
          .node = "a",
          .own = {},
          .admission = {.verdict = Admission::Verdict::kNoStatus},
          .since = {}};
}

TEST(GateReport, APauseNamesTheCommandThatEndsIt) {
  Report report = waiting();
  report.paused_by = "ann";
  EXPECT_EQ(what_unblocks(report), "the pause by ann ends ('wardmote reconcile resume g')");
  report.all_paused = true;
  EXPECT_EQ(what_unblocks(report), "the pause by ann ends ('wardmote resume')");
}

TEST(GateReport, APreserveThatCannotBeReadNamesNoRelease) {
  Report report = waiting();
  report.preserved = Hold{
      .release = {.major = -1}, .by = "a record that cannot be read", .why = "it is no record"};
  const std::string how = what_unblocks(report);
  EXPECT_FALSE(how.contains("-1")) << how;
  EXPECT_TRUE(how.contains("cannot be read") && how.contains("gate finalize g")) << how;
}

}  // namespace
}  // namespace wardmote::judge::version_gate
