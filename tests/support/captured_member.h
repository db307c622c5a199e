#pragma once

#include <cstddef>
#include <string>

#include "support/fake_server.h"
#include "support/ovn_captures.h"

namespace wardmote::testing {

/// Without its last election: a replayed answer does not age, and an election that stays three
/// seconds old is what a server says that stood still.
inline std::string without_election(std::string status) {
  for (const char* line : {"Last Election started ", "Last Election won: "}) {
    const std::size_t begin = status.find(line);
    if (begin == std::string::npos) continue;
    status.erase(begin, status.find('\n', begin) + 1 - begin);
  }
  return status;
}

/// A member that gives answer `index` of a capture.
inline FakeManners captured_member(const std::string& capture, std::size_t index) {
  FakeManners manners = healthy_manners(without_election(statuses_of(capture).at(index)));
  // ovsdb-client was not asked for the model.
  manners.results["transact"] =
      R"([{"rows":[{"model":"clustered",)" + lines_after(capture, R"([{"rows":[{)").at(index);
  return manners;
}

}  // namespace wardmote::testing
