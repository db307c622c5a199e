#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "judge/bgp/policy.h"
#include "observe/calico/felix.h"
#include "runtime/deadline.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::observe::calico {

/// Whose steps, texts and verdicts are given. kOwn asks more strictly, understands BIRD 2, and
/// never takes a reply that was cut short for a table.
enum class Release : std::uint8_t { kOwn, kCalico322, kCalico330, kHead };

/// `calico-3.22`, `calico-3.30`, `head`.
std::optional<Release> parse_release(std::string_view word) noexcept;

/// The checks of `calico-node`, in the order in which failures are shown.
enum class Check : std::uint8_t {
  kFelixLive,
  kBirdLive,
  kBird6Live,
  kFelixReady,
  kBirdReady,
  kBird6Ready,
};

/// The flag without its dashes: `felix-live`.
std::string_view to_string(Check check) noexcept;

struct HealthPlan {
  Duration threshold = std::chrono::seconds(30);
  Release release = Release::kOwn;
  std::string root;  ///< in front of /var and /etc: where the node's file system is mounted
  FelixTarget felix;
  judge::bgp::Policy policy = judge::bgp::calico_policy();  ///< only of kOwn
};

struct HealthResult {
  enum class Verdict : std::uint8_t {
    kGood,
    kBad,
    kUnknown,  ///< only of kOwn: there is no answer to judge
    kPanic,    ///< Calico would have ended with a stack trace
  };

  Verdict verdict = Verdict::kGood;
  std::string text;                  ///< one line, escaped, without its end; empty when it is good
  std::vector<std::string> details;  ///< more, for people; also when it is good
};

/// Runs one check; ends by `deadline`. `plan` outlives it.
runtime::Task<HealthResult> check_health(runtime::Runtime* runtime, const HealthPlan* plan,
                                         Check check, runtime::Deadline deadline);

/// The policy of kOwn before options change it: Calico's, but peers that are all disabled are not
/// ready.
judge::bgp::Policy own_policy();

}  // namespace wardmote::observe::calico
