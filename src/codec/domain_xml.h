#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace wardmote::codec {

/// The largest description of a domain that is read.
inline constexpr std::size_t kLargestDomainXml = 4 << 20;
/// `target/@name` of the guest agent's channel.
inline constexpr std::string_view kAgentChannel = "org.qemu.guest_agent.0";
/// The namespace of a guest's own policy in its metadata.
inline constexpr std::string_view kPolicyNamespace = "https://wardmote.io/xmlns/guest/1";

/// A channel between guest and host (`devices/channel`).
struct DomainChannel {
  std::string target;       ///< the name of its port in the guest; may be empty
  std::string state;        ///< `connected`, `disconnected`; empty: it does not run
  std::string source_mode;  ///< `bind`; empty: libvirt chose it
  std::string source_path;
  friend bool operator==(const DomainChannel&, const DomainChannel&) = default;
};

/// What Nova wrote about the instance (`nova:instance`).
struct NovaInstance {
  std::string name;
  std::string flavor;
  std::string project;
  friend bool operator==(const NovaInstance&, const NovaInstance&) = default;
};

/// Attributes that the guest's policy has in its metadata, not understood yet: name and value.
struct DomainPolicy {
  std::vector<std::pair<std::string, std::string>> attributes;
  friend bool operator==(const DomainPolicy&, const DomainPolicy&) = default;
};

/// What matters here of `virsh dumpxml`.
struct DomainXml {
  std::string name;
  std::string uuid;  ///< 36 characters, lower case
  int id = -1;       ///< of its process; -1: it does not run
  unsigned vcpus = 1;
  bool has_panic_device = false;
  std::vector<DomainChannel> channels;  ///< in their order
  std::vector<std::string> disks;       ///< that have something in them: `vda`, …
  std::optional<NovaInstance> nova;
  std::optional<DomainPolicy> policy;

  /// The guest agent's channel, wherever it stands; null: there is none.
  [[nodiscard]] const DomainChannel* agent() const noexcept;
  friend bool operator==(const DomainXml&, const DomainXml&) = default;
};

/// kProtocol: not the description of a domain with a name and a UUID; kLimit: too large.
Result<DomainXml> parse_domain_xml(std::string_view xml);

/// Lower case; nothing when it is no UUID of 36 characters.
std::optional<std::string> parse_uuid(std::string_view text);

}  // namespace wardmote::codec
