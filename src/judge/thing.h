#pragma once

#include <compare>
#include <string>
#include <string_view>

namespace wardmote::judge {

/// What kind of thing a change is of. A domain that judges things of a new kind has its constant
/// (judge/bgp/mesh.h); here are those that the rest knows. Kinds of one name are the same.
class ThingKind {
 public:
  constexpr ThingKind() noexcept = default;  ///< kAgent
  consteval explicit ThingKind(const char* name) noexcept : name_(name) {}

  /// The `scope` of events (docs/events.md): `agent`, `check`, …
  [[nodiscard]] constexpr std::string_view name() const noexcept { return name_; }
  friend auto operator<=>(const ThingKind&, const ThingKind&) = default;

  static const ThingKind kAgent;
  static const ThingKind kCheck;
  static const ThingKind kCluster;
  static const ThingKind kGate;
  static const ThingKind kIncident;
  static const ThingKind kPlan;
  static const ThingKind kPlans;  ///< the plans of one cluster, or of all
  static const ThingKind kReceiver;
  static const ThingKind kSilence;

 private:
  std::string_view name_ = "agent";
};

inline constexpr ThingKind ThingKind::kAgent;
inline constexpr ThingKind ThingKind::kCheck("check");
inline constexpr ThingKind ThingKind::kCluster("cluster");
inline constexpr ThingKind ThingKind::kGate("gate");
inline constexpr ThingKind ThingKind::kIncident("incident");
inline constexpr ThingKind ThingKind::kPlan("plan");
inline constexpr ThingKind ThingKind::kPlans("plans");
inline constexpr ThingKind ThingKind::kReceiver("receiver");
inline constexpr ThingKind ThingKind::kSilence("silence");

constexpr std::string_view to_string(ThingKind kind) noexcept {
  return kind.name();
}

struct ThingId {
  ThingKind kind;
  std::string name;
  friend auto operator<=>(const ThingId&, const ThingId&) = default;
};

}  // namespace wardmote::judge
