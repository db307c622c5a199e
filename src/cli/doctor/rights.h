#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/value.hpp>

namespace wardmote::cli {

/// One folder on the way to a file, or the file itself, as stat(2) shows it.
struct WayPart {
  enum class Kind : std::uint8_t { kFolder, kSocket, kFifo, kOther };

  Kind kind = Kind::kOther;
  std::uint32_t mode = 0;   ///< permission bits
  std::uint32_t group = 0;  ///< number of the group
  std::string group_name;   ///< from /etc/group; empty when it has no name there
};

/// A file that the agent may not open. `way` leads from the root to it, as far as it can be read.
struct RefusedFile {
  std::string path;
  std::vector<WayPart> way;
};

/// How the agent is started on this machine.
struct AgentProcess {
  enum class Manager : std::uint8_t { kUnknown, kSystemd, kRunit, kS6 };

  std::string user = "wardmote";
  Manager manager = Manager::kUnknown;
};

/// The first path in the text of an error: `connect unix:/run/ovn/ovnnb_db.ctl: denied`. Empty when
/// there is none.
std::string path_in(std::string_view words);

/// The paths that probes in /api/v1/status could not open, each once.
std::vector<std::string> refused_paths(const boost::json::value& status);

/// The one command that lets the agent open all of `files`: membership in a group if that is
/// enough, else the right to open root's files. Pure.
std::string remedy(std::span<const RefusedFile> files, const AgentProcess& agent);

}  // namespace wardmote::cli
