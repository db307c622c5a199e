#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "act/notify/channel.h"
#include "act/notify/dispatcher.h"
#include "base/result.h"
#include "config/config.h"
#include "incidents/change_feed.h"
#include "incidents/record_writer.h"
#include "incidents/wake_up.h"
#include "judge/change.h"
#include "judge/incident/incident.h"
#include "judge/notify/matcher.h"
#include "judge/notify/muting.h"
#include "judge/notify/notice.h"
#include "judge/notify/router.h"
#include "runtime/http.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "serve/notify_control.h"

namespace wardmote::incidents {

/// Everything that a notifier is told at the start.
struct NotifierOptions {
  judge::notify::RouterPolicy policy;
  std::vector<judge::notify::Maintenance> maintenance;
  std::vector<judge::notify::Silence> silences;  ///< that stand in the configuration
  std::map<std::string, act::notify::Receiver> receivers;
  std::map<std::string, std::string> kinds;  ///< by receiver: what the API calls its way
};

/// What only who makes the incidents knows of a storm.
struct Storms {
  std::function<bool(const judge::incident::Incident&)> rages;
  /// What fails in it now.
  std::function<std::vector<judge::notify::NoticePart>(const judge::incident::Incident&)> parts;
};

/// Tells people: has the router decide, writes down what is to be sent before it is sent, sends it,
/// and tries again. Life cycle: recall() before hear(), stop() before destruction; what it borrows
/// outlives it. Thread: the core loop.
class Notifier final : public serve::NotifyControl {
 public:
  /// `own` has the labels that the node adds to its incidents.
  Notifier(runtime::Runtime& runtime, RecordWriter& records, ChangeFeed& feed,
           const config::Node& own, NotifierOptions options);

  /// Takes over what earlier lives wrote down. kRejected: the lead was lost or won meanwhile.
  runtime::Task<Result<void>> recall();
  runtime::Task<void> stop();

  /// Other receivers, routes, maintenance windows and configured silences from now on.
  void reload(NotifierOptions options);

  /// Something happened to an incident. What is to be told of it is put into the records at once.
  void hear(const judge::incident::Step& step, const judge::notify::Labels& labels);
  /// After recall() and reload(), of each open incident: who should know of it may be others now.
  void consider(const judge::incident::Incident& incident, const judge::notify::Labels& labels);
  /// The silences among these are what who leads has written, and there are no others.
  void mirror_silences(const std::map<std::string, std::string>& records);
  /// Router::ask_confirmed().
  void ask_confirmed(std::function<bool(const judge::incident::Incident&)> confirmed);
  void ask_storms(Storms storms);
  /// All that it has written down, as it is now, by key.
  [[nodiscard]] std::map<std::string, std::string> records() const;
  /// It is called otherwise now.
  void renew(const judge::incident::Incident& incident) { router_.renew(incident); }
  /// After recall(), of each incident: Router::catch_up().
  void catch_up(const judge::incident::Incident& incident);

  [[nodiscard]] const judge::notify::Router& router() const noexcept override { return router_; }
  [[nodiscard]] const judge::notify::Muting& muting() const noexcept override { return muting_; }
  [[nodiscard]] const std::map<std::string, serve::ReceiverState>& receivers()
      const noexcept override {
    return states_;
  }
  [[nodiscard]] const std::deque<judge::notify::DeadLetter>& dead_letters()
      const noexcept override {
    return dead_;
  }
  std::shared_ptr<runtime::HttpHold> written() override { return records_.hold(); }
  Result<judge::notify::Silence> add_silence(judge::notify::Silence silence) override;
  Result<void> expire_silence(std::int64_t id) override;
  [[nodiscard]] Result<judge::notify::Labels> complete(
      const judge::notify::Labels& given) const override;
  Result<std::string> send_test(const std::string& receiver) override;

 private:
  /// kRejected: another agent leads, and takes the orders.
  [[nodiscard]] Result<void> takes_orders() const;
  void recall_groups(const std::map<std::string, std::string>& records);
  void pump();
  void tell_apart(judge::notify::Notice& notice) const;
  [[nodiscard]] bool is_due(const judge::notify::Notice& notice) const;
  void remind();
  void plan_reminder();
  void put_changed();
  void schedule();
  void on_delivery(const judge::notify::Notice& notice, const act::notify::DeliveryResult& result);
  void give_up(judge::notify::DeadLetter letter);
  std::string send_test_to(const std::string& receiver);
  void tell(judge::DeliveryChanged::Result result, const judge::notify::Notice& notice,
            const std::string& reason);

  runtime::Runtime& runtime_;
  RecordWriter& records_;
  ChangeFeed& feed_;
  const config::Node& own_;
  judge::notify::Router router_;
  std::function<bool(const judge::incident::Incident&)> confirmed_;
  Storms storms_;
  judge::notify::Muting muting_;
  std::map<std::string, serve::ReceiverState> states_;
  std::deque<judge::notify::DeadLetter> dead_;
  std::uint64_t readings_ = 0;  ///< of the groups, at the start and for each lead
  std::uint64_t tests_ = 0;
  act::notify::Dispatcher dispatcher_;
  WakeUp wake_up_;
  WakeUp remind_;
};

}  // namespace wardmote::incidents
