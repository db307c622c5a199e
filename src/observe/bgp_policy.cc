#include "observe/bgp_policy.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "judge/bgp/policy.h"
#include "observe/kinds.h"

namespace wardmote::observe {

using judge::bgp::Policy;

namespace {

constexpr auto kParams = std::to_array<ParamSpec>({
    {"policy", ParamType::kText, false,
     "calico: decide as calico-node -bird-ready does; other parameters override this"},
    {"expect", ParamType::kList, false, "address or name of a peer that must be configured"},
    {"only", ParamType::kList, false, "only peers whose names begin so count, for example Mesh_"},
    {"family", ParamType::kText, false, "only sessions that carry ipv4 or ipv6 count"},
    {"require", ParamType::kText, false,
     "how many peers must be established: startup (the default: all within the window after a "
     "start, one later), all, any"},
    {"window", ParamType::kDuration, false, "how long a start takes (default: 30s)"},
    {"min_peers", ParamType::kInteger, false,
     "how many peers must be established in any case (default: 1)"},
    {"min_routes", ParamType::kInteger, false,
     "warn when an established peer sends fewer routes (default: 0)"},
    {"no_peers", ParamType::kText, false,
     "outcome when no peer is configured: fail (the default), warn, ignore"},
    {"partial", ParamType::kText, false,
     "outcome when enough peers are established, but not all: warn (the default), fail, ignore"},
    {"disabled", ParamType::kText, false,
     "outcome when a peer is administratively down: warn (the default), fail, ignore"},
    {"ignore_passive", ParamType::kFlag, false,
     "peers that only wait for connections need not be established"},
    {"restart", ParamType::kText, false,
     "outcome of a graceful restart: startup (the default: fail within the window, warn later), "
     "fail, ignore"},
});

/// Reads the parameters into one policy; remembers the first wrong one.
class Reader {
 public:
  explicit Reader(const Params& params) noexcept : params_(params) {}

  template <class Value>
  void word(std::string_view name, std::optional<Value> (*parse)(std::string_view) noexcept,
            Value& into) {
    const auto* const text = value<std::string>(name);
    if (text == nullptr) return;
    const std::optional<Value> parsed = parse(*text);
    if (parsed) {
      into = *parsed;
    } else {
      wrong(fmt::format("{}: '{}' is none of its words", name, *text));
    }
  }

  template <class Number>
  void number(std::string_view name, Number& into) {
    const auto* const given = value<std::int64_t>(name);
    if (given == nullptr) return;
    if (*given < 0) {
      wrong(fmt::format("{}: {} is negative", name, *given));
    } else {
      into = static_cast<Number>(*given);
    }
  }

  void list(std::string_view name, std::vector<std::string>& into) {
    if (const auto* const given = value<std::vector<std::string>>(name)) into = *given;
  }

  template <class Value>
  const Value* value(std::string_view name) const {
    const auto found = params_.find(name);
    return found == params_.end() ? nullptr : std::get_if<Value>(&found->second);
  }

  void wrong(std::string what) {
    if (problem_.empty()) problem_ = std::move(what);
  }
  [[nodiscard]] const std::string& problem() const noexcept { return problem_; }

 private:
  const Params& params_;
  std::string problem_;
};

}  // namespace

Result<Policy> read_bgp_policy(const Params& params) {
  Reader reader(params);
  Policy policy;
  if (const auto* const name = reader.value<std::string>("policy")) {
    if (*name == "calico") {
      policy = judge::bgp::calico_policy();
    } else {
      reader.wrong(fmt::format("policy: '{}' is none; there is calico", *name));
    }
  }
  reader.list("expect", policy.expect);
  reader.list("only", policy.only);
  if (const auto* const family = reader.value<std::string>("family")) {
    policy.family = *family;
    if (*family != "ipv4" && *family != "ipv6")
      reader.wrong(fmt::format("family: '{}' is neither ipv4 nor ipv6", *family));
  }
  reader.word("require", judge::bgp::parse_require, policy.require);
  if (const auto* const window = reader.value<Duration>("window")) policy.window = *window;
  reader.number("min_peers", policy.min_peers);
  reader.number("min_routes", policy.min_routes);
  reader.word("no_peers", judge::bgp::parse_treat, policy.no_peers);
  reader.word("partial", judge::bgp::parse_treat, policy.partial);
  reader.word("disabled", judge::bgp::parse_treat, policy.disabled);
  if (const bool* const ignored = reader.value<bool>("ignore_passive"))
    policy.count_passive = !*ignored;
  reader.word("restart", judge::bgp::parse_during_restart, policy.restart);
  if (!reader.problem().empty()) return fail(Errc::kInvalid, "{}", reader.problem());
  return policy;
}

std::span<const ParamSpec> bgp_policy_params() noexcept {
  return kParams;
}

}  // namespace wardmote::observe
