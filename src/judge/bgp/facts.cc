#include "judge/bgp/facts.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace wardmote::judge::bgp {
namespace {

struct StateName {
  SessionState state;
  std::string_view name;
};

constexpr auto kStates = std::to_array<StateName>({
    {SessionState::kUnknown, "Unknown"},
    {SessionState::kDown, "Down"},
    {SessionState::kPassive, "Passive"},
    {SessionState::kIdle, "Idle"},
    {SessionState::kConnect, "Connect"},
    {SessionState::kActive, "Active"},
    {SessionState::kOpenSent, "OpenSent"},
    {SessionState::kOpenConfirm, "OpenConfirm"},
    {SessionState::kEstablished, "Established"},
    {SessionState::kClose, "Close"},
});

}  // namespace

std::string_view to_string(SessionState state) noexcept {
  const auto* const known = std::ranges::find(kStates, state, &StateName::state);
  return known == kStates.end() ? kStates.front().name : known->name;
}

SessionState parse_session_state(std::string_view word) noexcept {
  const auto* const known = std::ranges::find(kStates, word, &StateName::name);
  return known == kStates.end() ? SessionState::kUnknown : known->state;
}

}  // namespace wardmote::judge::bgp
