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

/// Whose steps, texts and verdicts to use. kOwn is stricter, understands BIRD 2, and never takes a
/// reply that was cut short for a table.
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
  std::string root;  ///< prefix of /var and /etc: where the node's file system is mounted
  FelixTarget felix;
  judge::bgp::Policy policy = judge::bgp::calico_policy();  ///< only of kOwn
};

struct HealthResult {
  enum class Verdict : std::uint8_t {
    kGood,
    kBad,
    kUnknown,  ///< only of kOwn: there is no answer that can be judged
    kPanic,    ///< Calico would have ended with a stack trace
  };

  Verdict verdict = Verdict::kGood;
  /// one line, escaped, without line end; empty when the check is good
  std::string text;
  std::vector<std::string> details;  ///< details for people; also when the check is good
};

/// Runs one check; ends by `deadline`. `plan` outlives it.
runtime::Task<HealthResult> check_health(runtime::Runtime* runtime, const HealthPlan* plan,
                                         Check check, runtime::Deadline deadline);

/// The policy of kOwn before options change it: Calico's, except that a node whose peers are all
/// disabled is not ready.
judge::bgp::Policy own_policy();

}  // namespace wardmote::observe::calico
