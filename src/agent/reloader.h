#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/agent.h"
#include "base/time.h"
#include "config/files.h"
#include "config/load.h"
#include "config/packed_text.h"
#include "runtime/event.h"
#include "runtime/http.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "runtime/task_group.h"
#include "serve/view.h"

namespace wardmote::agent {

/// Brings a changed configuration to the agent: when told to, and by itself when its files change.
/// One that is not valid is refused whole, and the one before it runs on. Life cycle: start() when
/// the agent has started, stop() before the agent stops; what it is given outlives it. Thread: the
/// core loop.
/// It adds POST /api/v1/reload to the agent: {"outcome": "applied|unchanged", "hash",
/// "restart_needed": [keys that count from the next start on]}, or 422 with
/// {"error": {"status", "message", "problems": [text]}}; and GET /debug/config at the unix socket:
/// {"path", "hash", "config"}, what runs, with every default and without secrets.
class Reloader {
 public:
  enum class Outcome : std::uint8_t { kApplied, kUnchanged, kRefused };

  /// The files are looked at this often, and read when they have changed and then kept still for as
  /// long: whoever saves a file is done with it by then. (Looking needs no watch that a replaced
  /// file, a turned link or a network file system would lose.)
  static constexpr Duration kLookEvery = std::chrono::seconds(1);

  /// Does something that takes long where it holds up nobody, and comes back when it is done.
  using Elsewhere = std::function<runtime::Task<void>(std::function<void()> work)>;

  /// The agent runs what was `loaded` from `origin`. `files` are read `elsewhere`.
  Reloader(runtime::Runtime& runtime, config::Files& files, Agent& agent, config::Origin origin,
           const config::Loaded& loaded, Elsewhere elsewhere);

  void start();
  runtime::Task<void> stop();

  /// Reads the files and goes over to what they say, after the reloads that were asked for before.
  /// `cause` is for the log.
  runtime::Task<Outcome> reload(std::string cause);
  /// What is wrong with the files; empty when they say what runs.
  [[nodiscard]] std::vector<std::string> problems() const;

 private:
  class Order;

  Outcome go_over(config::Loaded loaded, std::string_view cause);
  [[nodiscard]] runtime::HttpResponse answer(Outcome outcome) const;
  [[nodiscard]] runtime::HttpResponse show_config() const;
  runtime::Task<void> watch();
  Outcome refuse(std::vector<std::string> problems, std::string_view cause);

  runtime::Runtime& runtime_;
  config::Files& files_;
  Agent& agent_;
  const config::Origin origin_;
  const Elsewhere elsewhere_;
  serve::ConfigView shown_;
  config::PackedText running_;  // as JSON, for show_config()
  config::Footprint footprint_;
  bool stopping_ = false;  ///< what was read meanwhile comes too late
  bool reading_ = false;
  runtime::Event read_;  ///< set when `reading_` ends
  runtime::TaskGroup tasks_;
};

std::string_view to_string(Reloader::Outcome outcome) noexcept;

}  // namespace wardmote::agent
