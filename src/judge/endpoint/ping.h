#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

#include "base/time.h"
#include "judge/judgement.h"

namespace wardmote::judge {

/// Echo requests to one host and what came back of them.
struct PingFacts {
  std::string address;  ///< the address of the name
  std::size_t sent = 0;
  std::size_t received = 0;       ///< each request counts once
  std::optional<Duration> least;  ///< round trips
  std::optional<Duration> mean;
  std::optional<Duration> most;
};

struct PingPolicy {
  std::size_t warn_lost = 1;          ///< this many requests without an answer
  std::optional<Duration> warn_mean;  ///< a longer mean round trip
  std::optional<Duration> fail_mean;
};

/// Without any answer: fail with kUnreachable. Pure.
Judgement judge_ping(const PingFacts& facts, const PingPolicy& policy);

}  // namespace wardmote::judge
