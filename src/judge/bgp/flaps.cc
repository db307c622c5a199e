#include "judge/bgp/flaps.h"

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "base/time.h"
#include "judge/bgp/facts.h"

namespace wardmote::judge::bgp {
namespace {

/// Daemons count whole seconds, and the probe itself takes a moment.
constexpr Duration kClockGrain = std::chrono::seconds(2);

}  // namespace

void FlapCounter::count(BgpFacts& facts, TimePoint now) {
  std::map<std::string, Memory, std::less<>> seen;
  for (Session& session : facts.sessions) {
    Memory memory;
    if (const auto known = sessions_.find(session.name); known != sessions_.end())
      memory = known->second;
    const bool young = last_ && session.in_state && *session.in_state + kClockGrain < now - *last_;
    if (memory.established && (!session.established() || young)) ++memory.flaps;
    memory.established = session.established();
    session.flaps = memory.flaps;
    seen.insert_or_assign(session.name, memory);
  }
  sessions_ = std::move(seen);
  last_ = now;
}

}  // namespace wardmote::judge::bgp
