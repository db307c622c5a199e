#include "judge/notify/route_trace.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/time.h"
#include "judge/notify/matcher.h"
#include "judge/notify/router.h"

namespace wardmote::judge::notify {
namespace {

using namespace std::chrono_literals;

Matcher matcher(std::string_view text) {
  auto parsed = parse_matcher(text);
  EXPECT_TRUE(parsed) << text;
  return parsed ? *parsed : Matcher();
}

bool matches(std::string_view text, const Labels& labels) {
  return match(matcher(text), labels);
}

TEST(Matcher, ARegularExpressionMatchesTheWholeLabel) {
  const Labels labels = {{"code", "RAFT_JOINING_STUCK"}, {"root", "check:web-1"}};
  EXPECT_TRUE(matches("code=~RAFT_(JOINING|ZOMBIE).*", labels));
  EXPECT_FALSE(matches("code=~RAFT", labels)) << "it must match all of it";
  EXPECT_FALSE(matches("code=~JOINING_STUCK", labels));
  EXPECT_TRUE(matches("code=~.*STUCK", labels));
  EXPECT_FALSE(matches("code=~a|RAFT", labels)) << "the anchors hold for each branch";
  EXPECT_TRUE(matches("root=~check:web-[0-9]+", labels));
  EXPECT_FALSE(matches("root!~check:.*", labels));
  EXPECT_TRUE(matches("root!~cluster:.*", labels));
  EXPECT_TRUE(matches("uuid=~", labels)) << "a missing label is an empty one";
  EXPECT_FALSE(matches("uuid=~.+", labels));
}

TEST(Matcher, IsWrittenAsItWasRead) {
  for (const char* const text :
       {"a=b", "a!=b*", "a=~b.*", "a!~b|c", "a=", "a=~", "a=b=c", "a==~b"}) {
    EXPECT_EQ(to_string(matcher(text)), text);
  }
  EXPECT_EQ(matcher("a=~b"), matcher("a=~b"));
  EXPECT_NE(matcher("a=~b"), matcher("a=b"));
}

TEST(Matcher, WhatPosixWouldReadOtherwiseOrPayTooMuchForIsRefused) {
  for (const char* const text : {"a=~(", "a=~[", "a=~x{2}", "a=~(a)\\1", "a=~\\d+", "a=~(?i)x",
                                 "a!", "a~b", "=~b", "a b=~c", "!~b"}) {
    EXPECT_FALSE(parse_matcher(text)) << text;
  }
  EXPECT_FALSE(parse_matcher("a=~" + std::string(300, 'x')));
  EXPECT_TRUE(matches("a=~[{]2[}]", {{"a", "{2}"}})) << "braces in a set are characters";
  EXPECT_TRUE(matches("a=~x\\{2\\}", {{"a", "x{2}"}}));
  const auto wrong = parse_matcher("a=~\\d+");
  EXPECT_EQ(wrong.error().context, "regular expression '\\d+': \\d is not supported; write [0-9]");
}

constexpr WallTime kNow{};

std::vector<Route> three() {
  std::vector<Route> routes(3);
  routes[0] = {.receiver = "log", .match = {}, .group_by = {}, .go_on = true};
  routes[1] = {.receiver = "pager",
               .match = {matcher("severity=critical"), matcher("root!=check:x")},
               .group_by = {"root", "code"}};
  routes[2] = {.receiver = "mail", .match = {}, .group_by = {"root"}};
  return routes;
}

TEST(RouteTrace, SaysWhoTakesAnIncidentAndWhyTheOthersDoNot) {
  using Fate = RouteTrace::Fate;
  auto traces = trace_routes(three(), {{"severity", "critical"}, {"root", "cluster:nb"}}, kNow);
  ASSERT_EQ(traces.size(), 3U);
  EXPECT_EQ(traces[0].fate, Fate::kTakes);
  EXPECT_EQ(traces[0].group, "log{}");
  EXPECT_EQ(traces[1].fate, Fate::kTakes);
  EXPECT_EQ(traces[1].group, "pager{root=cluster:nb}");
  EXPECT_EQ(traces[2].fate, Fate::kNotReached);

  traces = trace_routes(three(), {{"severity", "critical"}, {"root", "check:x"}}, kNow);
  EXPECT_EQ(traces[1].fate, Fate::kNoMatch);
  ASSERT_TRUE(traces[1].missed);
  EXPECT_EQ(to_string(*traces[1].missed), "root!=check:x");
  EXPECT_EQ(traces[2].fate, Fate::kTakes);
  EXPECT_EQ(traces[2].number, 3U);
}

TEST(RouteTrace, SaysWhenARouteIsActiveAgain) {
  auto routes = three();
  routes[0].active = {{.begins = 8h, .length = 1h}};
  routes[1].active = routes[0].active;
  const auto traces = trace_routes(routes, {{"severity", "warning"}}, kNow);
  EXPECT_EQ(traces[0].fate, RouteTrace::Fate::kTakes);
  EXPECT_EQ(traces[0].rests_until, kNow + 8h);
  EXPECT_FALSE(traces[1].rests_until) << "it takes nothing at all";
  EXPECT_FALSE(traces[2].rests_until);
}

TEST(RouteTrace, DoesWhatTheRouterDoes) {
  RouterPolicy policy;
  policy.routes = three();
  for (const char* const severity : {"critical", "warning"}) {
    for (const char* const root : {"cluster:nb", "check:x"}) {
      const Labels labels = {{"severity", severity}, {"root", root}};
      Router router(policy);
      incident::Step step{incident::StepKind::kOpened, {}};
      step.incident.id = 1;
      step.incident.root = root;
      router.hear(step, labels, TimePoint{});
      std::vector<std::string> groups;
      for (const auto& [id, group] : router.groups()) groups.push_back(id);
      std::vector<std::string> traced;
      for (const RouteTrace& trace : trace_routes(policy.routes, labels, kNow)) {
        if (trace.fate == RouteTrace::Fate::kTakes) traced.push_back(trace.group);
      }
      std::ranges::sort(traced);
      EXPECT_EQ(groups, traced) << severity << root;
    }
  }
}

}  // namespace
}  // namespace wardmote::judge::notify
