#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <string>
#include <utility>

#include "base/result.h"
#include "base/time.h"
#include "net/http_fetch.h"
#include "runtime/endpoint.h"
#include "runtime/http.h"
#include "sim/sim_runtime.h"
#include "sim/world.h"

namespace wardmote::sim {

/// The host of a simulated agent, and a program there that asks the agent's API at 127.0.0.1:9470.
class AskedAgent {
 public:
  explicit AskedAgent(World& world) : sim(world) {}

  /// Status 0: there was no answer.
  runtime::HttpResponse get(std::string path) {
    using namespace std::chrono_literals;
    runtime::HttpRequest request{.method = "GET", .path = std::move(path)};
    if (const auto query = request.path.find('?'); query != std::string::npos) {
      request.query = request.path.substr(query + 1);
      request.path.resize(query);
    }
    const auto response =
        run_task(sim, client,
                 net::http_fetch(client, runtime::Endpoint::tcp("127.0.0.1", 9470), request,
                                 client.deadline_in(60s)));
    EXPECT_TRUE(response) << response.error().describe();
    return response.value_or(runtime::HttpResponse{.status = 0});
  }
  /// Seconds until `condition` holds, to the tenth; more than `limit` if it does not.
  Duration time_until(const std::function<bool()>& condition, Duration limit) {
    using namespace std::chrono_literals;
    const TimePoint begun = sim.now();
    while (sim.now() - begun <= limit && !condition()) sim.run_for(100ms);
    return sim.now() - begun;
  }

  World& sim;
  SimRuntime& us = sim.host("ctl");
  SimRuntime& client = sim.process("curl", "ctl");
};

}  // namespace wardmote::sim
