#pragma once

#include <cstddef>
#include <deque>
#include <string>

#include "act/notify/masakari_client.h"
#include "act/notify/masakari_session.h"
#include "base/time.h"
#include "runtime/event.h"
#include "runtime/http_client.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "runtime/task_group.h"

namespace wardmote::act::notify {

/// Tells Masakari of events of libvirt, as its own instance monitor does: each in its turn,
/// thirteen attempts, ten seconds apart. What waits is in memory only; of a thousand the oldest
/// makes room. Life cycle: start(), stop() before destruction. Thread: the core loop.
class MasakariEvents {
 public:
  static constexpr int kAttempts = 13;
  static constexpr std::size_t kMost = 1000;

  MasakariEvents(runtime::Runtime& runtime, runtime::HttpClient& http,
                 MasakariSession::Source source, MasakariSession::ReadSecret read_secret,
                 std::string node);

  void start();
  runtime::Task<void> stop();
  /// `event` and `vir_domain_event` are those of its payload.
  void tell(std::string instance, std::string event, std::string vir_domain_event);

 private:
  struct Told {
    std::string instance;
    std::string event;
    std::string vir_domain_event;
    WallTime at;
  };

  runtime::Task<void> follow();
  runtime::Task<void> send(Told told);
  /// Whether it is done with.
  runtime::Task<bool> attempt(MasakariClient* client, std::string body, bool last);
  [[nodiscard]] std::string body_of(const Told& told, const MasakariOptions& options) const;

  runtime::Runtime& runtime_;
  MasakariSession::Source source_;
  MasakariSession session_;
  std::string node_;
  std::deque<Told> waiting_;
  runtime::Event changed_;
  runtime::TaskGroup tasks_;
};

}  // namespace wardmote::act::notify
