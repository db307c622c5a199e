#pragma once

#include <memory>
#include <utility>

#include "runtime/endpoint.h"
#include "runtime/task_group.h"
#include "sim/sim_runtime.h"
#include "sim/world.h"
#include "support/fake_server.h"

namespace wardmote::sim {

/// One ovsdb-server as a process of its own, with a control socket and a database socket or port.
class FakeMember {
 public:
  FakeMember(SimRuntime& process, runtime::Endpoint control, runtime::Endpoint database)
      : process_(process), control_at_(std::move(control)), database_at_(std::move(database)) {}
  ~FakeMember() { end(); }

  void start(const testing::FakeManners& both) { start(both, both); }
  void start(testing::FakeManners control, testing::FakeManners database) {
    tasks_ = std::make_unique<runtime::TaskGroup>(process_.executor());
    const testing::FakeServer::Spawn spawn = [this](std::string name, runtime::Task<void> task) {
      tasks_->spawn(std::move(name), std::move(task));
    };
    control_ =
        std::make_unique<testing::FakeServer>(process_, spawn, control_at_, std::move(control));
    database_ =
        std::make_unique<testing::FakeServer>(process_, spawn, database_at_, std::move(database));
  }
  /// From now on it says this, on both ways.
  void answer(const testing::FakeManners& both) {
    control_->manners() = both;
    database_->manners() = both;
  }
  /// kill -9.
  void crash() {
    process_.crash();
    end();
  }
  [[nodiscard]] SimRuntime& process() const { return process_; }
  [[nodiscard]] int connections() const { return control_->connections(); }

 private:
  void end() {
    if (!tasks_) return;
    process_.resume();
    process_.world().run(process_, tasks_->stop());
    control_.reset();
    database_.reset();
    tasks_.reset();
  }

  SimRuntime& process_;
  runtime::Endpoint control_at_;
  runtime::Endpoint database_at_;
  std::unique_ptr<runtime::TaskGroup> tasks_;
  std::unique_ptr<testing::FakeServer> control_;
  std::unique_ptr<testing::FakeServer> database_;
};

}  // namespace wardmote::sim
