#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/random.h"
#include "runtime/runtime.h"
#include "runtime/task_group.h"
#include "runtime/tls.h"
#include "sim/fake_files.h"

namespace wardmote::sim {

class World;

/// The world as one simulated process sees it: a Runtime for the production coroutines or the fakes
/// that run there, and a handle for tests to do things to that process. A host mostly has one
/// process and goes by its name. Each has a loop of its own, so that it can be paused alone.
class SimRuntime final : public runtime::Runtime {
 public:
  SimRuntime(World& world, std::size_t index, std::string name, std::string host,
             std::uint64_t seed);
  ~SimRuntime() override;

  [[nodiscard]] TimePoint now() const noexcept override;
  [[nodiscard]] WallTime wall_now() const noexcept override;
  [[nodiscard]] std::string_view boot() const noexcept override { return host_; }
  [[nodiscard]] runtime::Executor executor() noexcept override;
  std::uint64_t random() noexcept override;
  runtime::Task<void> sleep_until(TimePoint at) override;
  runtime::Task<Result<std::unique_ptr<runtime::Stream>>> connect(
      runtime::Endpoint to, runtime::Deadline deadline) override;
  Result<std::unique_ptr<runtime::Listener>> listen(runtime::Endpoint at) override;
  runtime::Task<Result<std::unique_ptr<runtime::Datagrams>>> open_datagrams(
      runtime::DatagramTarget to, runtime::Deadline deadline) override;
  runtime::Processes& processes() noexcept override;
  FakeFiles& files() noexcept override { return files_; }

  /// A task that lives in this process: a fake server, say. crash() and vanish() end it.
  void spawn(std::string name, runtime::Task<void> task);

  /// Lets `ssl:` endpoints work here; it outlives this.
  void use_tls(runtime::TlsLayer& tls) noexcept { tls_ = &tls; }

  /// SIGSTOP and SIGCONT; the kernel goes on: it accepts, queues
  /// and acknowledges.
  void pause() noexcept { paused_ = true; }
  void resume();
  void pause_for(Duration time);
  /// Lets the process run only for an instant every `gap`, for `time`: a machine without CPU.
  void starve_for(Duration time, Duration gap);

  // Not from a task: from the test itself or from World::at().
  /// kill -9: tasks end, connections are reset, ports refuse. It runs again with
  /// the next spawn().
  void crash();
  /// Power loss: as crash(), but nobody is told; peers keep half-open connections. Until
  /// return_from_nowhere().
  void vanish();
  void return_from_nowhere() noexcept { gone_ = false; }
  [[nodiscard]] bool gone() const noexcept { return gone_; }

  /// Somebody sets the wall clock.
  void jump_wall_clock(Duration by) noexcept { wall_offset_ += by; }
  /// While set, no connection can be opened: kExhausted.
  void exhaust_descriptors(bool exhausted) noexcept { exhausted_ = exhausted; }
  [[nodiscard]] bool exhausted() const noexcept { return exhausted_; }

  /// What a program does here: how long it runs and how it ends. A program not given does not
  /// exist.
  struct Performance {
    Duration takes{};
    Result<runtime::ProcessExit> ends;
  };
  using FakeProgram = std::function<Performance(const runtime::ProcessSpec&)>;
  void install(std::string argv0, FakeProgram program) {
    programs_[std::move(argv0)] = std::move(program);
  }

  /// What comes back for one datagram, and when. Nothing does before answer_datagrams().
  struct Answer {
    Duration after;
    std::string bytes;
  };
  using DatagramPeer = std::function<std::vector<Answer>(const runtime::DatagramTarget& to,
                                                         const std::string& bytes)>;
  void answer_datagrams(DatagramPeer peer) { datagram_peer_ = std::move(peer); }
  /// While set, ping sockets are kDenied.
  void refuse_ping(bool refuse) noexcept { refuse_ping_ = refuse; }

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// The host that it runs on.
  [[nodiscard]] const std::string& host() const noexcept { return host_; }
  [[nodiscard]] World& world() const noexcept { return *world_; }

  // For World.
  [[nodiscard]] std::size_t index() const noexcept { return index_; }
  void run_ready();
  void end_tasks();

 private:
  class FakeProcesses;

  World* world_;
  std::size_t index_;
  std::string name_;
  std::string host_;
  runtime::Random random_;
  boost::asio::io_context context_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> alive_;
  std::unique_ptr<FakeProcesses> processes_;
  FakeFiles files_;
  std::map<std::string, FakeProgram> programs_;
  std::unique_ptr<runtime::TaskGroup> tasks_;
  DatagramPeer datagram_peer_ = [](const runtime::DatagramTarget&, const std::string&) {
    return std::vector<Answer>();
  };
  bool refuse_ping_ = false;
  runtime::TlsLayer* tls_ = nullptr;
  bool paused_ = false;
  bool gone_ = false;
  bool exhausted_ = false;
  Duration wall_offset_{};
};

}  // namespace wardmote::sim
