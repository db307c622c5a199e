#include "observe/frr/convert.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "base/format.h"
#include "base/time.h"
#include "codec/frr.h"
#include "judge/bgp/facts.h"
#include "observe/frr/client.h"

namespace wardmote::observe::frr {

using judge::bgp::BgpFacts;
using judge::bgp::Session;
using judge::bgp::SessionState;

namespace {

/// `ipv4Unicast` is called `ipv4` here, as with BIRD.
std::string family_of(std::string_view family) {
  if (family == "ipv4Unicast") return "ipv4";
  if (family == "ipv6Unicast") return "ipv6";
  return std::string(family);
}

Duration to_duration(std::uint64_t ms) noexcept {
  constexpr std::uint64_t kMost = 1'000'000'000'000;
  return std::chrono::milliseconds(static_cast<std::int64_t>(std::min(ms, kMost)));
}

/// Two VRFs may have a peer with the same address.
std::string name_of(std::string_view vrf, std::string_view address) {
  if (vrf.empty() || vrf == kDefaultVrf) return std::string(address);
  return fmt::format("{}/{}", vrf, address);
}

Session to_session(const codec::FrrPeer& peer) {
  Session session;
  session.name = name_of(peer.vrf, peer.address);
  session.address = peer.address;
  session.remote_as = peer.remote_as;
  session.local_as = peer.local_as;
  session.admin_down = peer.peer_state == "Admin" || peer.state.contains("(Admin)");
  session.passive = peer.peer_state == "Passive";
  session.state = session.admin_down
                      ? SessionState::kDown
                      : judge::bgp::parse_session_state(
                            std::string_view(peer.state).substr(0, peer.state.find(' ')));
  if (session.established() && peer.up_ms) session.in_state = to_duration(*peer.up_ms);
  session.drops = peer.dropped;
  return session;
}

void add_family(Session& session, const codec::FrrPeer& peer) {
  session.families.push_back(family_of(peer.family));
  if (!peer.received || !peer.sent) return;
  if (!session.routes) session.routes.emplace();
  session.routes->imported += *peer.received;
  session.routes->exported += *peer.sent;
}

}  // namespace

BgpFacts to_facts(Snapshot snapshot) {
  BgpFacts facts;
  facts.version = "FRR";
  facts.router_id = std::move(snapshot.summary.router_id);
  facts.lines_not_understood = snapshot.summary.not_understood;
  std::map<std::string, std::size_t, std::less<>> by_name;
  for (const codec::FrrPeer& peer : snapshot.summary.peers) {
    const auto [known, fresh] =
        by_name.try_emplace(name_of(peer.vrf, peer.address), facts.sessions.size());
    if (fresh) facts.sessions.push_back(to_session(peer));
    add_family(facts.sessions[known->second], peer);
  }
  for (codec::FrrReset& reset : snapshot.resets) {
    const auto known = by_name.find(name_of(reset.vrf, reset.address));
    if (known != by_name.end()) facts.sessions[known->second].last_error = std::move(reset.why);
  }
  return facts;
}

}  // namespace wardmote::observe::frr
