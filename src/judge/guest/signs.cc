#include "judge/guest/signs.h"

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/text.h"
#include "base/time.h"
#include "judge/condition/condition.h"
#include "judge/finding.h"

namespace wardmote::judge::guest {
namespace {

constexpr std::size_t kLongestDevice = 64;
constexpr std::array<std::string_view, 7> kActions = {"none",     "pause", "reset",     "poweroff",
                                                      "shutdown", "debug", "inject-nmi"};

std::string_view name_of(int action) noexcept {
  const auto at = static_cast<std::size_t>(action);
  return action >= 0 && at < kActions.size() ? kActions.at(at) : "unknown";
}

}  // namespace

void Signs::see(std::optional<Sign>& sign, std::string says, TimePoint now) {
  const bool goes_on = sign && now - sign->last < kStand;
  sign = Sign{goes_on ? sign->since : now, now, std::move(says)};
}

void Signs::watchdog(int action, TimePoint now) {
  see(watchdog_, fmt::format("its watchdog fired (action {})", name_of(action)), now);
}

void Signs::disk_error(std::string_view device, TimePoint now) {
  see(disk_,
      fmt::format("QEMU reported errors of its disk {}", escape_control(device, kLongestDevice)),
      now);
}

Conditions Signs::conditions(const std::string& called, const std::string& key,
                             TimePoint now) const {
  Conditions found;
  const auto add = [&](const std::optional<Sign>& sign, Code code, std::string_view verb) {
    if (!sign || now - sign->last >= kStand) return;
    Condition seen = condition(code, key, now);
    seen.since = sign->since;
    seen.finding.severity = Severity::kWarning;
    seen.finding.summary = fmt::format("{} {}: {}", called, verb, sign->says);
    found.push_back(std::move(seen));
  };
  add(watchdog_, Code::kGuestNoAnswer, "hung");
  add(disk_, Code::kHostStorage, "runs on a disk that fails");
  for (Condition& one : found) one.finding.evidence = evidence(now);
  return found;
}

std::vector<Evidence> Signs::evidence(TimePoint now) const {
  std::vector<Evidence> found;
  for (const std::optional<Sign>& sign : {watchdog_, disk_}) {
    if (!sign || now - sign->last >= kStand) continue;
    found.push_back(
        {"hypervisor", fmt::format("{}, {} ago", sign->says, format_duration(now - sign->last))});
  }
  return found;
}

}  // namespace wardmote::judge::guest
