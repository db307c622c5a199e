#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/sim_runtime.h"
#include "sim/world.h"
#include "support/fake_server.h"

namespace wardmote::sim {

/// Ends all tasks of a host when the test does: they borrow what the test owns.
class Curfew {
 public:
  explicit Curfew(SimRuntime& host) : host_(host) {}
  Curfew(const Curfew&) = delete;
  Curfew& operator=(const Curfew&) = delete;
  ~Curfew() { host_.crash(); }

 private:
  SimRuntime& host_;
};

/// A fake server among the tasks of `host`.
inline std::unique_ptr<testing::FakeServer> serve(SimRuntime& host, runtime::Endpoint at,
                                                  testing::FakeManners manners) {
  const auto spawn = [&host](std::string name, runtime::Task<void> task) {
    host.spawn(std::move(name), std::move(task));
  };
  return std::make_unique<testing::FakeServer>(host, spawn, std::move(at), std::move(manners));
}

/// A host with the control socket and the OVSDB socket of a member, and whoever asks them.
class OvnHost {
 public:
  explicit OvnHost(World& world) : sim(world) {}
  OvnHost(World& world, testing::FakeManners control_manners, testing::FakeManners ovsdb_manners)
      : sim(world) {
    serve_control(std::move(control_manners));
    serve_ovsdb(std::move(ovsdb_manners));
  }

  void serve_control(testing::FakeManners manners) {
    control = serve(host, kControl, std::move(manners));
  }
  void serve_ovsdb(testing::FakeManners manners) {
    ovsdb = serve(host, kOvsdb, std::move(manners));
  }

  inline static const runtime::Endpoint kControl =
      runtime::Endpoint::unix_socket("/run/ovn/ovnnb_db.ctl");
  inline static const runtime::Endpoint kOvsdb =
      runtime::Endpoint::unix_socket("/run/ovn/ovnnb_db.sock");

  World& sim;
  SimRuntime& host = sim.host("ctl-1");
  std::unique_ptr<testing::FakeServer> control;
  std::unique_ptr<testing::FakeServer> ovsdb;

 private:
  Curfew ends_ = Curfew(host);
};

}  // namespace wardmote::sim
