#include "judge/incident/news.h"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "judge/change.h"
#include "judge/incident/graph.h"
#include "judge/thing.h"

namespace wardmote::judge::incident {
namespace {

using namespace std::chrono_literals;
using Names = std::vector<std::string>;

TEST(IncidentNews, AFailingCheckIsNamedAndBeganNow) {
  Dependencies known;
  Change change;
  change.of = {ThingKind::kCheck, "web"};
  CheckChanged failed;
  failed.to = State::kReported;
  failed.reason.text = "refused";
  change.event = failed;
  const std::optional<News> news = news_of(change, known, TimePoint{7s});
  ASSERT_TRUE(news);
  EXPECT_TRUE(news->stands);
  EXPECT_EQ(news->symptom.names, Names{"web"});
  EXPECT_EQ(news->symptom.owner, "check:web");
  EXPECT_EQ(news->symptom.since, TimePoint{7s});
  EXPECT_TRUE(news->symptom.summary.contains("refused")) << news->symptom.summary;
}

/// A reload made it optional, and it was never good.
TEST(IncidentNews, AFailureThatCountsNoMoreIsOver) {
  Dependencies known;
  known.checks["web"].optional = true;
  Change change;
  change.of = {ThingKind::kCheck, "web"};
  CheckChanged failed;
  failed.to = State::kReported;
  failed.counts = false;
  change.event = failed;
  EXPECT_FALSE(news_of(change, known, {})->stands);
  failed.counts = true;
  change.event = failed;
  EXPECT_TRUE(news_of(change, known, {})->stands);
  EXPECT_EQ(news_of(change, known, {})->symptom.severity, Severity::kWarning);
}

}  // namespace
}  // namespace wardmote::judge::incident
