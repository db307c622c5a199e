#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/time.h"
#include "judge/raft/sighting.h"
#include "store/shared_note.h"

namespace wardmote::agent {

/// Which servers of raft clusters answer whom: the agent that leads must not remove a server which
/// another one sees alive. Life cycle: the sightings outlive it. Thread: the core loop.
class SharedServers final : public store::SharedNote {
 public:
  explicit SharedServers(judge::raft::Sightings& sightings) : sightings_(sightings) {}

  [[nodiscard]] std::string_view name() const noexcept override { return "servers"; }
  [[nodiscard]] std::string told() const override;
  void hear(const std::string& node, const std::string& text, TimePoint now) override;
  void lose(const std::string& node, const std::string& last, TimePoint now) override;
  void doubt(const std::string& node, const std::string& text, TimePoint now) override;
  void set_unheard(const std::string& by) override { sightings_.set_unheard(by); }

 private:
  judge::raft::Sightings& sightings_;
  std::map<std::string, std::string> heard_;  // by node
  std::map<std::string, std::string> left_;   // by node that is away
};

}  // namespace wardmote::agent
