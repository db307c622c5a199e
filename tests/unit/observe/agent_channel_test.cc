// Which of a guest's channels is its agent's: by its name wherever it stands, or as Masakari's
// monitor looks for it.
#include "observe/guests/agent_channel.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "codec/domain_xml.h"
#include "judge/guest/facts.h"

namespace wardmote::observe::guests {
namespace {

using codec::DomainChannel;
using judge::guest::Channel;

constexpr const char* kNova = "/var/lib/libvirt/qemu/org.qemu.guest_agent.0.instance-00000001.sock";
constexpr const char* kPattern = "/var/lib/libvirt/qemu/org.qemu.guest_agent.*.instance-*.sock";

Channel found(std::vector<DomainChannel> channels, const std::string& pattern = "") {
  codec::DomainXml xml;
  xml.channels = std::move(channels);
  return channel_of(xml, pattern);
}

const DomainChannel kSpice{"com.redhat.spice.0", "disconnected", "", ""};

TEST(AgentChannel, IsTheOneOfThatNameWhereverItStands) {
  EXPECT_EQ(found({}), Channel::kNone);
  EXPECT_EQ(found({kSpice}), Channel::kNone);
  EXPECT_EQ(found({kSpice, {"org.qemu.guest_agent.0", "connected", "", ""}}), Channel::kConnected);
  EXPECT_EQ(found({{"org.qemu.guest_agent.0", "disconnected", "bind", "/anywhere"}}),
            Channel::kDisconnected);
  EXPECT_EQ(found({{"org.qemu.guest_agent.0", "", "bind", "/anywhere"}}), Channel::kUnknown)
      << "the guest is off";
}

// `_hasQemuGuestAgent`: the first channel with a source, its mode and its path, and no name.
TEST(AgentChannel, ByMasakarisPatternIsTheFirstWithASource) {
  const DomainChannel nova{"org.qemu.guest_agent.0", "disconnected", "bind", kNova};
  EXPECT_EQ(found({kSpice, nova}, kPattern), Channel::kDisconnected);
  EXPECT_EQ(found({{"any.name", "connected", "bind", kNova}}, kPattern), Channel::kConnected);
  EXPECT_EQ(found({{"first", "connected", "bind", "/run/first.sock"}, nova}, kPattern),
            Channel::kNone);
  EXPECT_EQ(found({{"org.qemu.guest_agent.0", "connected", "connect", kNova}}, kPattern),
            Channel::kNone);
  EXPECT_EQ(found({{"org.qemu.guest_agent.0", "connected", "", ""}}, kPattern), Channel::kNone)
      << "libvirt chose its path";
}

}  // namespace
}  // namespace wardmote::observe::guests
