#include "serve/public_page.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "judge/check_machine.h"
#include "runtime/http.h"
#include "serve/api.h"
#include "serve/view.h"

namespace wardmote::serve {
namespace {

namespace json = boost::json;
using judge::State;

CheckView check(std::string name, State state) {
  CheckView check;
  check.name = std::move(name);
  check.kind = "tcp";
  check.state.state = state;
  check.state.seen_good = true;
  check.reason.text = "connection refused by 10.0.0.7";
  return check;
}

/// One line for each check.
AgentView agent(std::vector<CheckView> checks) {
  AgentView view;
  view.node = "ctl-secret";
  view.checks = std::move(checks);
  view.shown_publicly = PublicPage{.title = "Example & Cloud", .lines = {}};
  for (std::uint32_t at = 0; at < view.checks.size(); ++at)
    view.shown_publicly->lines.push_back({"Line " + std::to_string(at), {at}});
  return view;
}

runtime::HttpResponse get(const AgentView& view, std::string path) {
  Api api([&view]() -> const AgentView& { return view; }, {});
  return api.answer({.method = "GET",
                     .path = std::move(path),
                     .query = {},
                     .headers = {{"host", "localhost"}},
                     .body = {}});
}

std::string state(const CheckView& check) {
  const AgentView view = agent({check});
  return std::string(to_string(public_state(view.shown_publicly->lines.front(), view.checks)));
}

TEST(PublicPage, WhatIsNotKnownIsNotOperational) {
  EXPECT_EQ(state(check("a", State::kHealthy)), "operational");
  EXPECT_EQ(state(check("a", State::kDiscovery)), "unknown");
  EXPECT_EQ(state(check("a", State::kError)), "degraded");
  EXPECT_EQ(state(check("a", State::kReported)), "outage");
  CheckView blind = check("a", State::kHealthy);
  blind.state.blind = true;
  EXPECT_EQ(state(blind), "unknown");
  CheckView warned = check("a", State::kHealthy);
  warned.state.degraded = true;
  EXPECT_EQ(state(warned), "degraded");
}

TEST(PublicPage, TheWorstCheckOfALineDecides) {
  const AgentView view = agent(
      {check("a", State::kHealthy), check("b", State::kReported), check("c", State::kDiscovery)});
  EXPECT_EQ(public_state({"all", {0, 1, 2}}, view.checks), PublicState::kOutage);
  EXPECT_EQ(public_state({"some", {0, 2}}, view.checks), PublicState::kUnknown);
}

TEST(PublicPage, ShowsNothingButWhatWasChosen) {
  const AgentView view = agent({check("db-primary", State::kReported)});
  for (const std::string path : {"/public", "/public.json"}) {
    const runtime::HttpResponse answer = get(view, path);
    EXPECT_EQ(answer.status, 200);
    EXPECT_TRUE(answer.body.contains("Line 0")) << path;
    for (const std::string_view secret : {"db-primary", "ctl-secret", "10.0.0.7", "tcp", "0.1."})
      EXPECT_FALSE(answer.body.contains(secret)) << path << " " << secret;
  }
  EXPECT_TRUE(get(view, "/public").body.contains("There is an outage"));
}

TEST(PublicPage, IsTheSameForPrograms) {
  const AgentView view = agent({check("a", State::kHealthy), check("b", State::kError)});
  const json::value body = json::parse(get(view, "/public.json").body);
  EXPECT_EQ(body.at("title"), "Example & Cloud");
  EXPECT_EQ(body.at("state"), "degraded");
  EXPECT_EQ(body.at("lines"), json::parse(R"([{"name": "Line 0", "state": "operational"},
                                              {"name": "Line 1", "state": "degraded"}])"));
}

TEST(PublicPage, NamesAreTextAndNoMarkup) {
  AgentView view = agent({check("a", State::kHealthy)});
  view.shown_publicly->title = "<script>alert('x')</script>";
  view.shown_publicly->lines.front().name = "\"A\" & B";
  const std::string html = public_html(view);
  EXPECT_FALSE(html.contains("<script"));
  EXPECT_TRUE(html.contains("&quot;A&quot; &amp; B"));
}

TEST(PublicPage, IsThereOnlyWhenItIsConfigured) {
  AgentView view = agent({});
  view.shown_publicly.reset();
  EXPECT_EQ(get(view, "/public").status, 404);
  EXPECT_EQ(get(view, "/public.json").status, 404);
}

}  // namespace
}  // namespace wardmote::serve
