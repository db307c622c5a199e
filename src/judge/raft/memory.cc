#include "judge/raft/memory.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "judge/raft/picture.h"

namespace wardmote::judge::raft {
namespace {

Identity identify(const Member& member) {
  Identity next = member.identity ? *member.identity : Identity{.member = member.name()};
  // A member that runs another history, or none, is still remembered as who it was in this one.
  if ((member.takes_part() || member.presence == Presence::kJoining) && member.id.known()) {
    next.id = member.id;
    next.address = member.address;
  }
  next.silent_from = member.silent_from;
  return next;
}

bool unchanged(const Identity& identity, const Member& member) {
  return identity.member == member.name() && identity.id == member.id &&
         identity.address == member.address && identity.silent_from == member.silent_from;
}

bool unchanged(const Listed& listed, const Seat& seat) {
  return listed.id == seat.id && listed.voter == seat.voter && listed.address == seat.address;
}

}  // namespace

const Identity* Memory::identity(std::string_view member) const noexcept {
  const auto found = std::ranges::lower_bound(identities_, member, {}, &Identity::member);
  return found != identities_.end() && found->member == member ? &*found : nullptr;
}

void Memory::learn(const Picture& picture) {
  if (picture.cluster_id.known()) cluster_id_ = picture.cluster_id;
  if (picture.anybody_takes_part()) election_timer_ = picture.election_timer;
  learn_list(picture);
  learn_identities(picture);
}

void Memory::learn_identities(const Picture& picture) {
  const auto same = [](const Identity& i, const Member& m) { return unchanged(i, m); };
  if (std::ranges::equal(identities_, picture.members, same)) return;
  std::vector<Identity> next;
  next.reserve(picture.members.size());
  for (const Member& member : picture.members) next.push_back(identify(member));
  identities_ = std::move(next);
}

void Memory::learn_list(const Picture& picture) {
  const auto same = [](const Listed& l, const Seat& s) { return unchanged(l, s); };
  if (!picture.newest || std::ranges::equal(list_, picture.seats, same)) return;
  std::vector<Listed> next;
  next.reserve(picture.seats.size());
  for (const Seat& seat : picture.seats) {
    next.push_back({seat.id, std::string(seat.nickname), std::string(seat.address), seat.voter});
  }
  list_ = std::move(next);
}

}  // namespace wardmote::judge::raft
