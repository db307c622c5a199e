#include "judge/raft/survey.h"

#include <algorithm>
#include <span>
#include <string>
#include <string_view>

#include "base/time.h"
#include "judge/raft/advice.h"
#include "judge/raft/assess.h"
#include "judge/raft/member_id.h"
#include "judge/raft/memory.h"
#include "judge/raft/opinion.h"
#include "judge/raft/picture.h"
#include "judge/raft/quote.h"

namespace wardmote::judge::raft {
namespace {

ListedServer listed(const Picture& picture, const Seat& seat) {
  ListedServer server;
  server.id = seat.id;
  server.address = seat.address;
  server.names = names(seat);
  const Member* const member = seat.reporter != nullptr ? seat.reporter : seat.owner;
  if (member != nullptr) server.member = member->name();
  server.answers = seat.reporter != nullptr;
  server.voter = seat.voter;
  server.acknowledges = acknowledges(picture, seat);
  server.leads = seat.reporter != nullptr && seat.reporter == picture.leader;
  if (seat.at_leader != nullptr) server.match_index = seat.at_leader->match_index;
  server.objection = objection_to_kick(picture, seat);
  return server;
}

SurveyedMember surveyed(const Member& member) {
  SurveyedMember seen{.name = member.name()};
  seen.answers = member.presence == Presence::kMember && !member.failed;
  seen.joining = member.presence == Presence::kJoining;
  // One that was removed is out on purpose: that is nobody's illness.
  seen.out = seen.joining || member.presence == Presence::kDown ||
             member.presence == Presence::kHung || member.presence == Presence::kForeign;
  seen.id = member.opinion->server_id();
  return seen;
}

}  // namespace

const ListedServer* Survey::find(const MemberId& id) const noexcept {
  const auto found = std::ranges::find_if(
      servers, [&](const ListedServer& server) { return compatible(server.id, id); });
  return found == servers.end() ? nullptr : &*found;
}

const SurveyedMember* Survey::member(std::string_view name) const noexcept {
  const auto found = std::ranges::find(members, name, &SurveyedMember::name);
  return found == members.end() ? nullptr : &*found;
}

const ListedServer* Survey::server_of(std::string_view member) const noexcept {
  const auto found = std::ranges::find(servers, member, &ListedServer::member);
  return found == servers.end() ? nullptr : &*found;
}

Survey survey(std::span<const Opinion> opinions, const Expectation& expectation,
              const Memory& memory, TimePoint now) {
  const Picture picture = draw(opinions, expectation, memory, now);
  Survey survey;
  survey.begun = now;
  for (const Opinion& opinion : opinions) survey.begun = std::min(survey.begun, opinion.begun);
  if (picture.leader != nullptr && picture.leader->status() != nullptr) {
    survey.leader = picture.leader->name();
    survey.committed = picture.leader->status()->committed_index();
  }
  survey.changing = picture.changing;
  survey.starved = picture.starved;
  survey.voters = picture.quorum.voters;
  survey.needed = picture.quorum.needed;
  for (const Seat& seat : picture.seats) {
    survey.servers.push_back(listed(picture, seat));
    survey.acknowledging += survey.servers.back().acknowledges ? 1 : 0;
  }
  for (const Member& member : picture.members) survey.members.push_back(surveyed(member));
  return survey;
}

}  // namespace wardmote::judge::raft
