#include <algorithm>
#include <optional>

#include "judge/raft/picture.h"

namespace wardmote::judge::raft {
namespace {

/// More servers than any raft cluster has. A member that lists more is not compared beyond it.
constexpr std::size_t kMaxSeats = 64;

void take_seats(Picture& picture, const Memory& memory) {
  if (!picture.newest) {
    for (const Listed& listed : memory.list()) {
      picture.seats.push_back({.id = listed.id,
                               .nickname = listed.nickname,
                               .address = listed.address,
                               .voter = listed.voter});
    }
    return;
  }
  const std::vector<Server>& servers = picture.newest->status()->servers;
  picture.seats.reserve(std::min(servers.size(), kMaxSeats));
  for (const Server& server : servers) {
    if (picture.seats.size() == kMaxSeats) break;
    Seat seat{.id = server.id,
              .nickname = server.nickname,
              .address = server.address,
              .phase = server.phase};
    seat.voter = is_voter(server.phase);
    seat.line = &server;
    picture.seats.push_back(seat);
  }
}

/// The list of the leader tells whom it hears; usually it is the newest list itself.
void find_lines_at_leader(Picture& picture) noexcept {
  if (!picture.leader || !picture.leader->status()) return;
  for (Seat& seat : picture.seats) {
    if (picture.leader == picture.newest) {
      seat.at_leader = seat.line;
      continue;
    }
    for (const Server& server : picture.leader->status()->servers) {
      if (same_server(server.id, server.address, seat.id, seat.address)) seat.at_leader = &server;
    }
  }
}

bool may_report(const Member& member, const Seat& seat) noexcept {
  return member.takes_part() || (member.presence == Presence::kJoining && !seat.voter);
}

void find_reporters(Picture& picture) noexcept {
  // By id and address first; an id alone only for who has no seat by then, since four digits may
  // collide.
  for (const bool lenient : {false, true}) {
    for (Member& member : picture.members) {
      if (member.seat || !member.id.known()) continue;
      for (Seat& seat : picture.seats) {
        if (seat.reporter && lenient) continue;
        if (!may_report(member, seat) ||
            !same_server(member.id, member.address, seat.id, seat.address, lenient))
          continue;
        member.seat = &seat;
        if (!seat.reporter) seat.reporter = &member;  // a cloned server id keeps the first by name
        break;
      }
    }
  }
}

bool answers_now(const Member& member) noexcept {
  return member.takes_part() || member.presence == Presence::kJoining ||
         member.presence == Presence::kForeign;
}

void find_successors(Picture& picture) noexcept {
  for (Seat& seat : picture.seats) {
    if (seat.reporter || seat.address.empty()) continue;
    for (const Member& member : picture.members) {
      if (answers_now(member) && member.status() && member.address == seat.address)
        seat.successor = &member;
    }
  }
}

/// Ids are completed from what is remembered or reported: lists show four digits only.
void complete_ids(Picture& picture, const Memory& memory) noexcept {
  for (Seat& seat : picture.seats) {
    if (seat.reporter && compatible(seat.reporter->id, seat.id)) seat.id = seat.reporter->id;
    if (seat.id.full()) continue;
    for (const Listed& listed : memory.list()) {
      const bool same = listed.address == seat.address && compatible(listed.id, seat.id);
      if (same && listed.id.digits > seat.id.digits) seat.id = listed.id;
    }
  }
}

bool may_own(const Member& member) noexcept {
  return !member.seat && !answers_now(member);
}

void own(Member& member, Seat& seat) noexcept {
  seat.owner = &member;
  seat.attributed = true;
  member.seat = &seat;
}

/// Listed servers that nobody reports and that must be members which do not answer: by remembered
/// id, then by address.
void find_owners(Picture& picture) noexcept {
  for (Member& member : picture.members) {
    if (!may_own(member) || !member.identity) continue;
    for (Seat& seat : picture.seats) {
      if (seat.reporter || seat.owner) continue;
      if (!same_server(member.identity->id, member.identity->address, seat.id, seat.address))
        continue;
      own(member, seat);
      break;
    }
  }
  for (Member& member : picture.members) {
    if (!may_own(member) || member.address.empty()) continue;
    for (Seat& seat : picture.seats) {
      if (seat.reporter || seat.owner || seat.address != member.address) continue;
      own(member, seat);
      break;
    }
  }
}

/// Whether `witness` heard the server of `seat` of late, and later than its owner fell silent or
/// became something else.
bool hears(const Picture& picture, const Seat& seat, const Member& witness,
           const Server& line) noexcept {
  if (!line.last_message || !picture.fresh(*line.last_message)) return false;
  if (!seat.owner) return true;
  if (!seat.owner->silent_from) return false;
  return witness.opinion->begun - *line.last_message > *seat.owner->silent_from;
}

void find_heard(Picture& picture) noexcept {
  for (Seat& seat : picture.seats) {
    seat.heard = seat.at_leader && hears(picture, seat, *picture.leader, *seat.at_leader);
  }
  if (picture.leader && picture.leader->status()) return;
  // The leader itself tells nothing. It would not go on for long without a majority, so hearing it
  // proves one; but a server that answers us as no leader has stepped down.
  for (const Member& member : picture.members) {
    if (!member.hears_leader || member.status()->term < picture.term()) continue;
    const Server& line = *member.leader_line;
    for (Seat& seat : picture.seats) {
      if (!same_server(line.id, line.address, seat.id, seat.address)) continue;
      if (seat.reporter && seat.reporter->status()) continue;
      if (line.last_message ? hears(picture, seat, member, line) : !seat.owner) {
        seat.heard = true;
        picture.quorum_proven = true;
      }
    }
  }
}

/// Silent members that we never knew must be among the silent servers that nobody claims.
void attribute_the_rest(Picture& picture) noexcept {
  const auto unclaimed = [](const Seat& seat) {
    return !seat.reporter && !seat.owner && !seat.successor && !seat.heard && seat.voter;
  };
  const auto unplaced = [](const Member& member) { return member.unplaced(); };
  const auto seats = std::ranges::count_if(picture.seats, unclaimed);
  const auto members = std::ranges::count_if(picture.members, unplaced);
  if (seats == 0 || seats > members) return;
  const bool unique = seats == 1 && members == 1;
  for (Seat& seat : picture.seats) {
    if (!unclaimed(seat)) continue;
    if (unique) own(*std::ranges::find_if(picture.members, unplaced), seat);
    seat.attributed = true;
  }
}

bool is_certain_silence(const Member& member) noexcept {
  return member.presence != Presence::kUnknown;
}

/// Whether neither end of the connection between this server and the leader hears the other.
bool is_cut_off(const Picture& picture, const Seat& seat) noexcept {
  const Member& member = *seat.reporter;
  if (!seat.voter || !seat.at_leader || picture.leader == &member || seat.heard) return false;
  const std::optional<Local>& local = member.opinion->local;
  return member.status() ? !member.hears_leader : !(local && local->connected);
}

Life judge_life(const Picture& picture, const Seat& seat, bool leader_tells) noexcept {
  if (seat.reporter) {
    if (seat.reporter->failed) return Life::kSilent;
    return leader_tells && is_cut_off(picture, seat) ? Life::kCutOff : Life::kLive;
  }
  if (seat.successor) return Life::kSilent;  // an address belongs to one process
  if (seat.heard) return Life::kLive;
  if (seat.owner && is_certain_silence(*seat.owner)) return Life::kSilent;
  if (leader_tells && seat.at_leader) return Life::kSilent;
  if (seat.owner) return Life::kUnknown;
  if (!seat.attributed) return Life::kUnasked;
  const auto may_live = [](const Member& member) {
    return may_own(member) && !is_certain_silence(member);
  };
  return std::ranges::any_of(picture.members, may_live) ? Life::kUnknown : Life::kSilent;
}

void count_quorum(Picture& picture) noexcept {
  for (const Seat& seat : picture.seats) {
    if (!seat.voter) continue;
    ++picture.quorum.voters;
    picture.quorum.live += seat.life == Life::kLive;
    picture.cut_off += seat.life == Life::kCutOff;
    picture.unknown += seat.life == Life::kUnknown;
    picture.unasked += seat.life == Life::kUnasked;
  }
  if (picture.quorum.voters > 0) picture.quorum.needed = picture.quorum.voters / 2 + 1;
  // A leader that prints no ages (OVS 2.9 to 2.14) steps down by itself when it hears no majority.
  const Member* const leader = picture.leader;
  if (leader && leader->status() && !tells_ages(*leader->status()) && picture.quorum.voters > 1) {
    picture.quorum_proven =
        picture.quorum.live + picture.unknown + picture.unasked >= picture.quorum.needed;
  }
  if (picture.quorum_proven)
    picture.quorum.live = std::max(picture.quorum.live, picture.quorum.needed);
}

/// A member that we cannot reach, while others hear it, is not down.
void believe_the_others(Picture& picture) noexcept {
  const bool stranger_lives = std::ranges::any_of(picture.seats, [](const Seat& seat) {
    return !seat.reporter && !seat.attributed && seat.heard;
  });
  for (Member& member : picture.members) {
    if (member.presence != Presence::kDown) continue;
    const Opinion& opinion = *member.opinion;
    const bool unreachable = opinion.status_source.reason.code == ReasonCode::kUnreachable ||
                             opinion.local_source.reason.code == ReasonCode::kUnreachable;
    member.heard =
        member.seat ? member.seat->heard : unreachable && !member.id.known() && stranger_lives;
    if (member.heard) member.presence = Presence::kUnknown;
  }
}

}  // namespace

void fill_seats(Picture& picture, const Memory& memory) {
  take_seats(picture, memory);
  find_lines_at_leader(picture);
  find_reporters(picture);
  find_successors(picture);
  complete_ids(picture, memory);
  find_owners(picture);
  find_heard(picture);
  attribute_the_rest(picture);
  const bool leader_tells =
      picture.leader && picture.leader->status() && tells_ages(*picture.leader->status());
  for (Seat& seat : picture.seats) seat.life = judge_life(picture, seat, leader_tells);
  count_quorum(picture);
  believe_the_others(picture);
}

}  // namespace wardmote::judge::raft
