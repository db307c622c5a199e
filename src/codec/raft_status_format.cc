#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

#include "codec/raft_status.h"

namespace wardmote::codec {
namespace {

using Out = std::back_insert_iterator<std::string>;

template <class... Args>
void put(std::string& text, fmt::format_string<Args...> format, Args&&... args) {
  fmt::format_to(Out(text), format, std::forward<Args>(args)...);
}

void put_word(std::string& text, std::string_view title, std::string_view word) {
  if (!word.empty()) put(text, "{}: {}\n", title, word);
}

void put_number(std::string& text, std::string_view title, std::optional<std::uint64_t> number) {
  if (number) put(text, "{}: {}\n", title, *number);
}

void put_id(std::string& text, std::string_view title, std::string_view id) {
  if (id.size() <= 4) return put_word(text, title, id);
  put(text, "{}: {} ({})\n", title, id.substr(0, 4), id);
}

void put_change(std::string& text, const RaftChange& change) {
  put(text, "{} server {} ({} at {})", change.adding ? "Adding" : "Removing", change.nickname,
      change.id, change.address);
  if (!change.phase.empty()) put(text, " ({})", change.phase);
  text += '\n';
}

void put_election(std::string& text, const RaftStatus& status) {
  if (status.election_started_ms) {
    put(text, "Last Election started {} ms ago", *status.election_started_ms);
    if (!status.election_reason.empty()) put(text, ", reason: {}", status.election_reason);
    text += '\n';
  }
  if (status.election_won_ms) put(text, "Last Election won: {} ms ago\n", *status.election_won_ms);
  if (status.election_timer_ms) {
    put(text, "Election timer: {}", *status.election_timer_ms);
    if (status.election_timer_next_ms)
      put(text, " (changing to {})", *status.election_timer_next_ms);
    text += '\n';
  }
}

void put_server(std::string& text, const RaftServer& server) {
  if (server.role.empty()) {
    put(text, "    {} ({} at {})", server.nickname, server.id, server.address);
    if (server.self) text += " (self)";
  } else {
    put(text, "    {}{} at {} ({})", server.id, server.self ? " (self)" : "", server.address,
        server.role);
  }
  if (!server.phase.empty()) put(text, " ({})", server.phase);
  if (!server.voted_for.empty()) put(text, " (voted for {})", server.voted_for);
  if (server.next_index) put(text, " next_index={}", *server.next_index);
  if (server.match_index) put(text, " match_index={}", *server.match_index);
  if (server.last_message_ms) put(text, " last msg {} ms ago", *server.last_message_ms);
  if (server.connected) put(text, " connected={}", *server.connected);
  if (!server.rest.empty()) put(text, " {}", server.rest);
  text += '\n';
}

}  // namespace

std::string format(const RaftStatus& status) {
  std::string text = status.nickname + "\n";
  put_word(text, "Name", status.name);
  if (status.cluster_id.empty()) put_word(text, "Cluster ID", "not yet known");
  put_id(text, "Cluster ID", status.cluster_id);
  put_id(text, "Server ID", status.server_id);
  put_word(text, "Address", status.address);
  put_word(text, "Status", status.standing);
  if (!status.join_remotes.empty())
    put(text, "Remotes for joining: {}\n", fmt::join(status.join_remotes, " "));
  for (const RaftChange& change : status.changes) put_change(text, change);
  put_word(text, "Role", status.role);
  put_number(text, "Term", status.term);
  put_word(text, "Leader", status.leader);
  put_word(text, "Vote", status.vote);
  text += '\n';
  put_election(text, status);
  if (status.log) put(text, "Log: [{}, {}]\n", status.log->start, status.log->next);
  put_number(text, "Entries not yet committed", status.uncommitted);
  put_number(text, "Entries not yet applied", status.unapplied);
  text += "Connections:";
  for (const RaftLink& link : status.links) {
    put(text, " {}{}{}{}", link.up ? "" : "(", link.outgoing ? "->" : "<-", link.peer,
        link.up ? "" : ")");
  }
  text += '\n';
  put_number(text, "Disconnections", status.disconnections);
  put_number(text, "Index", status.index);
  if (status.connected) put(text, "Connected: {}\n", *status.connected);
  for (const std::string& line : status.unknown_lines) put(text, "{}\n", line);
  if (!status.lists_servers) return text;
  text += "Servers:\n";
  for (const RaftServer& server : status.servers) put_server(text, server);
  for (const std::string& line : status.unknown_server_lines) put(text, "    {}\n", line);
  return text;
}

}  // namespace wardmote::codec
