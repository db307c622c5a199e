#pragma once
// Real clusters in trouble (tests/data/ovn) as opinions that the judge takes.

#include <chrono>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/text.h"
#include "base/time.h"
#include "codec/ovsdb.h"
#include "judge/outcome.h"
#include "judge/raft/opinion.h"
#include "observe/ovn/convert.h"
#include "observe/ovn/refusal.h"
#include "observe/ovn/unixctl_client.h"

namespace wardmote::testing {

inline void take_status(judge::raft::Opinion& opinion, std::string_view output) {
  observe::ovn::StatusAnswer answer = observe::ovn::read_status_text(output);
  opinion.status_source.reason = answer.reason;
  if (answer.status) opinion.status = observe::ovn::to_status(*std::move(answer.status));
  // What a failed ovn-appctl prints instead is no status.
  if (!opinion.status) opinion.status_source.reason = observe::ovn::reason_of_output(output);
}

inline void take_row(judge::raft::Opinion& opinion, std::string_view output) {
  const auto row = codec::parse_query_output(output);
  if (!row) {
    opinion.local_source.reason = observe::ovn::reason_of_output(output);
  } else if (!*row) {
    opinion.local_source.reason.code = judge::ReasonCode::kUnknownCluster;
    opinion.mode = judge::raft::Mode::kAbsent;
  } else {
    opinion.local_source.reason = {};
    opinion.local = observe::ovn::to_local(**row);
    // The transcripts' query leaves `model` out; only databases without a cluster have no ids.
    const bool clustered = !(*row)->server_id.empty();
    opinion.mode = clustered        ? judge::raft::Mode::kClustered
                   : (*row)->leader ? judge::raft::Mode::kStandalone
                                    : judge::raft::Mode::kRelay;
  }
}

/// Each `--- member N: COMMAND`, its output and `[exit=N]`.
inline std::vector<judge::raft::Opinion> opinions_in(std::string_view transcript) {
  std::map<std::string, judge::raft::Opinion> members;
  while (!transcript.empty()) {
    std::string_view line = take_until(transcript, '\n');
    if (!consume_prefix(line, "--- member ")) continue;
    const std::string name = fmt::format("m{}", take_until(line, ':'));
    const std::size_t end = transcript.find("[exit=");
    const std::string_view output = transcript.substr(0, end);
    judge::raft::Opinion& opinion = members[name];
    opinion.member = name;
    opinion.control_command = {"ovn-appctl", "-t", name + ".ctl"};
    line.contains("ovn-appctl") ? take_status(opinion, output) : take_row(opinion, output);
  }
  std::vector<judge::raft::Opinion> opinions;
  for (auto& [name, opinion] : members) opinions.push_back(std::move(opinion));
  return opinions;
}

/// The state of the capture as it would be `elapsed` later: a silence goes on, a heartbeat stays
/// young.
inline std::vector<judge::raft::Opinion> later(std::vector<judge::raft::Opinion> opinions,
                                               TimePoint begun, Duration elapsed) {
  for (judge::raft::Opinion& opinion : opinions) {
    opinion.begun = begun;
    opinion.ended = begun + std::chrono::milliseconds(1);
    if (!opinion.status) continue;
    for (auto& server : opinion.status->servers) {
      if (server.last_message && *server.last_message > std::chrono::seconds(1)) {
        *server.last_message += std::chrono::duration_cast<std::chrono::milliseconds>(elapsed);
      }
    }
  }
  return opinions;
}

}  // namespace wardmote::testing
