#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <string>

#include "act/notify/masakari_client.h"
#include "base/result.h"
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
  /// As MasakariMaintenance's.
  using Source = std::function<std::optional<MasakariOptions>()>;
  using ReadSecret = std::function<Result<std::string>(const std::string& file)>;

  MasakariEvents(runtime::Runtime& runtime, runtime::HttpClient& http, Source source,
                 ReadSecret read_secret, std::string node);

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
  runtime::Task<bool> attempt(std::string body, bool last);
  /// Why there is none; nothing: client_ is one.
  [[nodiscard]] std::optional<Error> connect(MasakariOptions options);
  [[nodiscard]] std::string body_of(const Told& told, const MasakariOptions& options) const;

  runtime::Runtime& runtime_;
  runtime::HttpClient& http_;
  Source source_;
  ReadSecret read_secret_;
  std::string node_;
  std::optional<MasakariOptions> asked_;  ///< without its secret
  std::optional<MasakariClient> client_;
  std::deque<Told> waiting_;
  runtime::Event changed_;
  runtime::TaskGroup tasks_;
};

}  // namespace wardmote::act::notify
