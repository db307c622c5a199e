#include "judge/raft/advice.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>

#include "base/format.h"
#include "judge/finding.h"
#include "judge/raft/member_id.h"
#include "judge/raft/picture.h"
#include "judge/raft/quote.h"

namespace wardmote::judge::raft {
namespace {

std::size_t acknowledging(const Picture& picture) noexcept {
  return static_cast<std::size_t>(std::ranges::count_if(
      picture.seats, [&](const Seat& seat) { return acknowledges(picture, seat); }));
}

/// Whether it may be a member that is only down, as far as we know who is who.
bool may_be_configured(const Picture& picture, const Seat& seat) noexcept {
  if (seat.successor) return false;
  return seat.attributed || std::ranges::any_of(picture.members, [](const Member& member) {
           return member.unplaced();
         });
}

bool is_ambiguous(const Picture& picture, const Seat& seat) noexcept {
  return std::ranges::any_of(picture.seats, [&](const Seat& other) {
    return &other != &seat && compatible(other.id, seat.id);
  });
}

}  // namespace

bool acknowledges(const Picture& picture, const Seat& seat) noexcept {
  return seat.voter && seat.life == Life::kLive && (seat.heard || seat.reporter == picture.leader);
}

std::optional<std::string> objection_to_kick(const Picture& picture, const Seat& seat) {
  const std::string id = label(seat);
  if (seat.reporter) return fmt::format("Do not remove {}: it answers.", id);
  if (picture.quorum.live + picture.cut_off < picture.quorum.needed) return recover_quorum();
  if (!picture.leader || !picture.leader->status()) {
    return fmt::format("No leader answers, and a kick of {} needs one: wait until one does.", id);
  }
  if (picture.changing) {
    return fmt::format(
        "A server is being added or removed: wait until that has ended before kicking {}.", id);
  }
  if (may_be_configured(picture, seat)) {
    return fmt::format("Do not remove {}: it may be a configured member that does not answer now.",
                       id);
  }
  if (seat.heard || seat.life != Life::kSilent || !seat.at_leader) {
    return fmt::format("Do not remove {}: it is not certain that it is dead.", id);
  }
  const std::size_t rest = picture.quorum.voters - (seat.voter ? 1 : 0);
  const std::size_t needed = rest / 2 + 1;
  const std::size_t able = std::min(acknowledging(picture), picture.quorum.live);
  if (able < picture.quorum.needed || able < needed) {
    return fmt::format(
        "A kick of {} is not safe: {} of {} voters acknowledge the leader, {} are needed. Bring "
        "members back first.",
        id, able, picture.quorum.voters, std::max(needed, picture.quorum.needed));
  }
  if (!seat.id.known() || is_ambiguous(picture, seat)) {
    return fmt::format(
        "The id {} is not unique in the list: find the full id of the dead server before kicking "
        "it.",
        id);
  }
  return std::nullopt;
}

std::string recover_quorum() {
  return "Quorum is lost: a kick needs a commit and cannot work. Start the members that are down. "
         "If they are lost for good, "
         "recover from one member with ovsdb-tool cluster-to-standalone and build a new cluster.";
}

Advice advise_kick(const Picture& picture, const Seat& seat) {
  if (const auto reason = objection_to_kick(picture, seat)) return {.text = *reason};
  const Member& leader = *picture.leader;
  Advice advice;
  advice.text =
      fmt::format("Kick {} at {} from the leader {}.", label(seat), seat.address, label(leader));
  if (seat.successor)
    advice.text += fmt::format(" {} at the same address stays.", label(*seat.successor));
  advice.run_on = leader.name();
  advice.command = leader.opinion->control_command;
  if (advice.command.empty()) return advice;
  const std::string id = seat.id.full() ? to_string(seat.id) : label(seat);
  for (const std::string& argument :
       {std::string("cluster/kick"), picture.expectation->database, id}) {
    advice.command.push_back(argument);
  }
  return advice;
}

}  // namespace wardmote::judge::raft
