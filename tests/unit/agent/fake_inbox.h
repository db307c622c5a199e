#pragma once

#include <chrono>
#include <expected>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "act/notify/channel.h"
#include "base/time.h"
#include "incidents/notifier.h"
#include "judge/notify/notice.h"
#include "judge/notify/router.h"
#include "runtime/deadline.h"
#include "runtime/task.h"
#include "sim/sim_runtime.h"

namespace wardmote::agent {

/// What a person is told, and how well that goes.
struct Inbox {
  std::vector<judge::notify::Notice> heard;
  std::optional<judge::notify::Refusal> refuses;
  Duration takes{};
  std::string complaint;  ///< about one of several recipients

  /// `opened 1`, of each item.
  [[nodiscard]] std::vector<std::string> told() const {
    std::vector<std::string> all;
    for (const judge::notify::Notice& notice : heard) {
      for (const judge::notify::NoticeItem& item : notice.items)
        all.push_back(std::string(to_string(item.kind)) + " " + std::to_string(item.incident.id));
    }
    return all;
  }
};

/// A fake: the way to an inbox.
class FakeWay final : public act::notify::Channel {
 public:
  FakeWay(sim::SimRuntime& host, Inbox& inbox) : host_(host), inbox_(inbox) {}

  runtime::Task<act::notify::DeliveryResult> send(judge::notify::Notice notice,
                                                  runtime::Deadline /*deadline*/) override {
    if (inbox_.takes > Duration::zero()) co_await host_.sleep_until(host_.now() + inbox_.takes);
    if (inbox_.refuses) co_return std::unexpected(*inbox_.refuses);
    inbox_.heard.push_back(std::move(notice));
    co_return act::notify::Delivered{inbox_.complaint};
  }

 private:
  sim::SimRuntime& host_;
  Inbox& inbox_;
};

/// Each receiver is told of everything, as soon as it is composed.
inline incidents::NotifierOptions told_to(sim::SimRuntime& host,
                                          const std::map<std::string, Inbox*>& inboxes,
                                          bool forgets = false) {
  incidents::NotifierOptions options;
  for (const auto& [name, inbox] : inboxes) {
    judge::notify::Route route;
    route.receiver = name;
    route.group_by = {"root"};
    route.group_wait = std::chrono::seconds(10);
    route.group_interval = std::chrono::minutes(1);
    route.go_on = true;
    options.policy.routes.push_back(route);
    options.receivers[name] = {std::make_unique<FakeWay>(host, *inbox), std::chrono::minutes(5),
                               forgets};
    options.kinds[name] = "fake";
  }
  return options;
}

}  // namespace wardmote::agent
