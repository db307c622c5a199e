#include "judge/remedies.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "judge/finding.h"
#include "judge/thing.h"

namespace wardmote::judge {
namespace {

constexpr std::array kGone = {Code::kRaftStaleMember, Code::kRaftDeadMember};
constexpr std::array kOut = {Code::kRaftMemberDown, Code::kRaftJoiningStuck};

// Only what says that the guest itself is dead: not its agent, its host, or nobody knows what.
constexpr std::array kLost = {Code::kGuestPanic, Code::kGuestDied, Code::kGuestSpinning,
                              Code::kGuestIdleHung, Code::kGuestBootStuck};

constexpr auto kRemedies = std::to_array<RemedyInfo>({
    {"remove_server", "kick the server", kGone, ThingKind::kCluster},
    {"rebuild_member", "rebuild the member", kOut, ThingKind::kCluster},
    {"restart_guest", "restart the guest", kLost, ThingKind("guest")},
});

}  // namespace

std::span<const RemedyInfo> remedies() noexcept {
  return kRemedies;
}

const RemedyInfo* remedy_for(Code code) noexcept {
  for (const RemedyInfo& remedy : kRemedies) {
    if (std::ranges::find(remedy.codes, code) != remedy.codes.end()) return &remedy;
  }
  return nullptr;
}

const RemedyInfo* find_remedy(std::string_view name) noexcept {
  const auto* const found = std::ranges::find(kRemedies, name, &RemedyInfo::name);
  return found == kRemedies.end() ? nullptr : &*found;
}

}  // namespace wardmote::judge
