#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "codec/oslo_config.h"

namespace wardmote::config {

/// What is known of the file so far.
struct MasakariDraft {
  // As the original's defaults.
  boost::json::object guests{
      {"channel_path", "/var/lib/libvirt/qemu/org.qemu.guest_agent.*.instance-*.sock*"}};
  boost::json::object masakari;
  boost::json::object keystone{{"region", "RegionOne"}};
  std::int64_t every = 10;  ///< in seconds, as the next one
  std::int64_t patience = 30;
  bool by_keystone = true;
  bool has_secret = false;
  std::vector<std::string> notes;

  /// Adds a note; what the option says is not repeated, since it may be a secret.
  void say(const codec::OsloOption& option, std::string_view what);
};

/// An option of masakarimonitors.conf, and what becomes of it.
struct MasakariOption {
  std::string_view group;
  std::string_view name;
  void (*take)(MasakariDraft& draft, const codec::OsloOption& option, std::string_view text);
  std::string_view text;  ///< a key of ours, or what is said of it
};

/// In the order in which they are taken: what is said of all is overruled by what is said of one.
std::span<const MasakariOption> masakari_options() noexcept;

}  // namespace wardmote::config
