#include "agent/reloader.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/agent.h"
#include "base/format.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "config/files.h"
#include "config/load.h"
#include "config/reload_plan.h"
#include "config/sources.h"
#include "observe/kinds.h"
#include "runtime/http.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "serve/answer.h"
#include "serve/order.h"
#include "serve/role.h"
#include "serve/route.h"
#include "serve/view.h"

namespace wardmote::agent {

using runtime::Task;

namespace {

constexpr std::size_t kLongestProblem = 1024;

}  // namespace

/// Holds the answer to an order until it is carried out.
class Reloader::Order final : public runtime::HttpHold {
 public:
  explicit Order(Reloader& reloader) : reloader_(reloader) {}

  Task<std::optional<runtime::HttpResponse>> wait() override {
    const Outcome outcome = co_await reloader_.reload("an order");
    co_return reloader_.answer(outcome);
  }

 private:
  Reloader& reloader_;
};

Reloader::Reloader(runtime::Runtime& runtime, config::Files& files, Agent& agent,
                   config::Origin origin, const config::Loaded& loaded, Elsewhere elsewhere)
    : runtime_(runtime),
      files_(files),
      agent_(agent),
      origin_(std::move(origin)),
      elsewhere_(std::move(elsewhere)),
      running_(loaded.shown),
      footprint_(loaded.footprint),
      read_(runtime.executor()),
      tasks_(runtime.executor()) {
  shown_.path = origin_.path;
  shown_.hash = loaded.hash;
  shown_.applied = runtime.now();
  agent_.show(shown_);
  agent_.add({.method = "POST",
              .path = "/api/v1/reload",
              .least = serve::Role::kAdmin,
              .answer = [this](const serve::Ask& ask) {
                const auto order = serve::parse_order(ask.request, {});
                if (!order) return serve::order_refused(order.error());
                runtime::HttpResponse response;
                response.hold = std::make_shared<Order>(*this);
                return response;
              }});
  agent_.add({.method = "GET",
              .path = "/debug/config",
              .least = serve::Role::kAdmin,
              .answer = [this](const serve::Ask&) { return show_config(); },
              .local = true});
}

void Reloader::start() {
  tasks_.spawn("configuration", watch());
}

Task<void> Reloader::stop() {
  stopping_ = true;
  co_await tasks_.stop();
}

Task<Reloader::Outcome> Reloader::reload(std::string cause) {
  while (reading_) co_await read_.wait();
  reading_ = true;
  struct Done {
    Reloader* reloader;
    ~Done() {
      reloader->reading_ = false;
      reloader->read_.notify();
    }
  } const done{this};
  // Shared with the work, which goes on when this task is cancelled.
  const auto draft = std::make_shared<config::Draft>();
  std::function<void()> work = [draft, files = &files_, origin = origin_] {
    *draft = config::draft_config(*files, origin, observe::probe_kinds());
  };
  co_await elsewhere_(std::move(work));
  if (stopping_) co_return refuse({"the agent ends"}, cause);
  co_return go_over(config::finish_config(std::move(*draft), runtime_), cause);
}

Reloader::Outcome Reloader::go_over(config::Loaded loaded, std::string_view cause) {
  footprint_ = std::move(loaded.footprint);
  if (!loaded.config) return refuse(std::move(loaded.problems), cause);
  // Also when the text is the same: the files that it names, of tokens say, may hold something
  // else.
  const Result<config::ReloadPlan> plan = agent_.reload(*std::move(loaded.config));
  if (!plan)
    return refuse({fmt::format("{}: {}", shown_.path, escape_control(plan.error().describe()))},
                  cause);
  if (loaded.hash == shown_.hash) {
    // The files of the tokens are not ours to compare.
    const Result<void> renewed = agent_.renew_access();
    if (!renewed) {
      return refuse(
          {fmt::format("{}: {}", shown_.path, escape_control(renewed.error().describe()))}, cause);
    }
    ++shown_.reloads_unchanged;
    shown_.restart_needed = agent_.restart_needed();
    shown_.refused.reset();
    agent_.show(shown_);
    log(LogLevel::kInfo, "config_unchanged", {{"cause", std::string(cause)}});
    return Outcome::kUnchanged;
  }
  running_ = std::move(loaded.shown);
  shown_.hash = std::move(loaded.hash);
  shown_.applied = runtime_.now();
  shown_.refused.reset();
  ++shown_.reloads_applied;
  shown_.restart_needed = agent_.restart_needed();
  agent_.show(shown_);
  log(LogLevel::kInfo, "config_applied",
      {{"cause", std::string(cause)},
       {"hash", shown_.hash},
       {"kept", fmt::to_string(plan->count(config::ReloadAction::kKept))},
       {"retimed", fmt::to_string(plan->count(config::ReloadAction::kRetimed))},
       {"begun", fmt::to_string(plan->count(config::ReloadAction::kBegun))},
       {"ended",
        fmt::to_string(plan->ended.size() - plan->count(config::ReloadAction::kRetimed))}});
  return Outcome::kApplied;
}

Reloader::Outcome Reloader::refuse(std::vector<std::string> problems, std::string_view cause) {
  log(LogLevel::kError, "config_refused",
      {{"cause", std::string(cause)}, {"problems", fmt::to_string(problems.size())}});
  for (const std::string& problem : problems)
    log(LogLevel::kError, "config_problem", {{"problem", problem}});
  ++shown_.reloads_refused;
  shown_.refused = {.at = runtime_.now(), .problems = std::move(problems)};
  agent_.show(shown_);
  return Outcome::kRefused;
}

std::vector<std::string> Reloader::problems() const {
  return shown_.refused ? shown_.refused->problems : std::vector<std::string>{};
}

runtime::HttpResponse Reloader::answer(Outcome outcome) const {
  if (outcome != Outcome::kRefused) {
    boost::json::array keys(shown_.restart_needed.begin(), shown_.restart_needed.end());
    return serve::json_answer({{"outcome", to_string(outcome)},
                               {"hash", shown_.hash},
                               {"restart_needed", std::move(keys)}});
  }
  constexpr int kUnprocessable = 422;
  boost::json::object error;
  error["status"] = kUnprocessable;
  error["message"] = "the configuration was refused, and the one before it runs on";
  boost::json::array& problems = error["problems"].emplace_array();
  for (const std::string& problem : shown_.refused->problems)
    problems.emplace_back(escape_control(problem, kLongestProblem));
  return serve::json_answer({{"error", std::move(error)}}, kUnprocessable);
}

/// What runs is JSON already, and may be long.
runtime::HttpResponse Reloader::show_config() const {
  std::string head =
      boost::json::serialize(boost::json::object{{"path", shown_.path}, {"hash", shown_.hash}});
  head.back() = ',';
  return serve::text_answer("application/json", head + "\"config\":" + running_.text() + "}\n");
}

Task<void> Reloader::watch() {
  config::Footprint last = footprint_;
  for (;;) {
    co_await runtime_.sleep_until(runtime_.now() + kLookEvery);
    config::Footprint seen = config::look_again(files_, footprint_);
    if (seen != footprint_ && seen == last) co_await reload("the files changed");
    last = std::move(seen);
  }
}

std::string_view to_string(Reloader::Outcome outcome) noexcept {
  switch (outcome) {
    case Reloader::Outcome::kApplied: return "applied";
    case Reloader::Outcome::kUnchanged: return "unchanged";
    case Reloader::Outcome::kRefused: return "refused";
  }
  return "refused";
}

}  // namespace wardmote::agent
