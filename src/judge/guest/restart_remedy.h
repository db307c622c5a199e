#pragma once

#include <expected>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/time.h"
#include "judge/finding.h"
#include "judge/guest/facts.h"
#include "judge/guest/restart_view.h"
#include "judge/plan/plan.h"
#include "judge/plan/remedy.h"
#include "judge/thing.h"

namespace wardmote::judge::guest {

// The steps of a restart, in their order. A guest that died has nothing to be ended.
inline constexpr std::string_view kConfirmDead = "confirm_dead";
inline constexpr std::string_view kInjectNmi =
    "inject_nmi";  ///< if its policy gives time for a dump
inline constexpr std::string_view kDestroy = "destroy";
inline constexpr std::string_view kStart = "start";
inline constexpr std::string_view kVerify = "verify";

/// Restarts a guest that is dead. A plan is for one process of one guest (libvirt's id of it), so
/// that a guest which was started anew meanwhile is never ended, and one episode never leads to two
/// restarts: the next process is another episode. Its arguments: `uuid`, `process`, `dump` in
/// milliseconds.
class RestartRemedy final : public plan::Remedy {
 public:
  explicit RestartRemedy(RestartView view)
      : target_{kGuestKind, view.names.name}, view_(std::move(view)) {}

  [[nodiscard]] const ThingId& target() const noexcept override { return target_; }
  [[nodiscard]] TimePoint begun() const noexcept override { return view_.begun; }
  [[nodiscard]] std::expected<plan::Plan, std::string> draft(const Finding& finding) const override;
  /// `subject` is the word `restart`: of a guest nothing else can be asked for.
  [[nodiscard]] std::expected<plan::Plan, std::string> draft_for(
      std::string_view subject) const override;
  /// The same process of the same guest.
  [[nodiscard]] bool is_same(const plan::Plan& made, const plan::Plan& fresh) const override;
  [[nodiscard]] bool is_rejected_by(const plan::Plan& rejected,
                                    const plan::Plan& fresh) const override;
  [[nodiscard]] std::expected<TimePoint, std::string> stands_since(
      const plan::Plan& plan, const Finding& finding) const override;
  [[nodiscard]] std::optional<std::string> obstacle(const plan::Plan& plan) const override;
  [[nodiscard]] std::optional<std::string> recovered(const plan::Plan& plan) const override;
  [[nodiscard]] bool is_well(const plan::Plan& plan) const override;
  [[nodiscard]] plan::Decision decide(const plan::Plan& plan, TimePoint now) const override;
  [[nodiscard]] std::map<std::string, std::string> request(const plan::Plan& plan) const override;

 private:
  [[nodiscard]] plan::Plan made(std::optional<Code> code, std::string why) const;
  /// Why it must not be begun, with all that the plan says.
  [[nodiscard]] std::optional<std::string> refusal(const plan::Plan& plan) const;
  [[nodiscard]] plan::Decision before_change(const plan::Plan& plan, TimePoint now) const;
  [[nodiscard]] plan::Decision after_nmi(const plan::Plan& plan, TimePoint now) const;
  [[nodiscard]] plan::Decision destroy(const plan::Plan& plan, TimePoint now) const;
  [[nodiscard]] plan::Decision start(const plan::Plan& plan, TimePoint now) const;
  [[nodiscard]] plan::Decision verify(const plan::Plan& plan, TimePoint now) const;

  ThingId target_;
  RestartView view_;
};

/// What the arguments of such a plan say; nothing: it is no such plan, or is not understood.
struct RestartOf {
  std::string uuid;
  int process = -1;
  Duration dump{};
  static std::optional<RestartOf> plan(const plan::Plan& plan);
};

}  // namespace wardmote::judge::guest
