#include "codec/domain_xml.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/test_data.h"

namespace wardmote::codec {
namespace {

constexpr std::string_view kUuid = "00000000-0000-4000-8000-000000000001";

std::string nova_xml() {
  std::ifstream file(WARDMOTE_TEST_DATA "/guests/nova.xml");
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string domain(std::string_view inside) {
  return "<domain type='qemu'><name>web</name><uuid>" + std::string(kUuid) + "</uuid>" +
         std::string(inside) + "</domain>";
}

TEST(DomainXml, TellsWhatNovaAndLibvirtWrite) {
  const auto parsed = parse_domain_xml(nova_xml());
  ASSERT_TRUE(parsed) << parsed.error().describe();
  EXPECT_EQ(parsed->name, "instance-00000005");
  EXPECT_EQ(parsed->uuid, "00000000-0000-4000-8000-00000000000a");
  EXPECT_EQ(parsed->id, 5);
  EXPECT_EQ(parsed->vcpus, 2U);
  EXPECT_TRUE(parsed->has_panic_device);
  EXPECT_EQ(parsed->nova, (NovaInstance{"web-1 & co", "m1.small", "shop"}));
  ASSERT_TRUE(parsed->policy);
  EXPECT_EQ(parsed->policy->attributes, (std::vector<std::pair<std::string, std::string>>{
                                            {"interval", "30s"}, {"threshold", "5"}}));
}

TEST(DomainXml, NamesTheDisksThatHaveSomethingInThem) {
  const auto parsed = parse_domain_xml(domain(
      "<devices><disk type='file' device='disk'><source file='/d'/><target dev='vda'/></disk>"
      "<disk type='file' device='cdrom'><target dev='sda'/></disk>"
      "<disk type='network'><source protocol='rbd'/><target dev='vdb'/></disk></devices>"));
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->disks, (std::vector<std::string>{"vda", "vdb"}));
}

// Masakari's monitor looks at the first channel that has a source, and at its path.
TEST(DomainXml, FindsTheAgentByItsTargetWhereverItStands) {
  const auto nova = parse_domain_xml(nova_xml());
  ASSERT_TRUE(nova);
  ASSERT_NE(nova->agent(), nullptr);
  EXPECT_EQ(nova->channels.size(), 2U);
  EXPECT_EQ(nova->agent()->state, "connected");
  EXPECT_EQ(nova->agent()->source_mode, "bind");
  const auto automatic =
      parse_domain_xml(domain("<devices><channel type='unix'><target type='virtio' "
                              "name='org.qemu.guest_agent.0'/></channel></devices>"));
  ASSERT_TRUE(automatic);
  ASSERT_NE(automatic->agent(), nullptr) << "libvirt chooses the path when it starts";
  EXPECT_EQ(automatic->agent()->source_path, "");
  const auto none = parse_domain_xml(domain("<devices/>"));
  ASSERT_TRUE(none);
  EXPECT_EQ(none->agent(), nullptr);
  EXPECT_EQ(none->vcpus, 1U);
}

TEST(DomainXml, MetadataCountsByItsNamespaceAndNotByItsPrefix) {
  const auto other = parse_domain_xml(
      domain("<metadata><nova:instance xmlns:nova='http://example.org/x'><nova:name>a</nova:name>"
             "</nova:instance><guest threshold='5'/></metadata>"));
  ASSERT_TRUE(other);
  EXPECT_FALSE(other->nova);
  EXPECT_FALSE(other->policy);
  const auto plain = parse_domain_xml(
      domain("<metadata><guest xmlns='https://wardmote.io/xmlns/guest/1' watch='no'/></metadata>"));
  ASSERT_TRUE(plain);
  ASSERT_TRUE(plain->policy);
  EXPECT_EQ(plain->policy->attributes.front().second, "no");
}

TEST(DomainXml, WhatIsNoDomainIsRefused) {
  for (const std::string& bad :
       {std::string(), std::string("<domain>"), std::string("<domain/>"), std::string("no xml"),
        std::string("<domain><name>a</name><uuid>short</uuid></domain>"),
        std::string("<!DOCTYPE d [<!ENTITY a 'b'>]><domain><name>&a;</name></domain>"),
        "<capabilities>" + domain("") + "</capabilities>"}) {
    EXPECT_FALSE(parse_domain_xml(bad)) << bad;
  }
  EXPECT_EQ(parse_domain_xml(std::string(kLargestDomainXml + 1, ' ')).error().code, Errc::kLimit);
}

TEST(DomainXml, EveryPrefixOfARealOneIsRefusedOrWhole) {
  const std::string whole = nova_xml();
  for (std::size_t length = 0; length + 10 < whole.size(); ++length)
    EXPECT_FALSE(parse_domain_xml(std::string_view(whole).substr(0, length))) << length;
}

TEST(DomainXml, AUuidIsOneInEitherCase) {
  EXPECT_EQ(parse_uuid("ABCDEF00-0000-4000-8000-000000000001"),
            "abcdef00-0000-4000-8000-000000000001");
  EXPECT_EQ(parse_uuid("abcdef00-0000-4000-8000-00000000000"), std::nullopt);
  EXPECT_EQ(parse_uuid("abcdef00-0000-4000-8000-00000000000g"), std::nullopt);
  EXPECT_EQ(parse_uuid("abcdef00000004000-8000-0000000000010"), std::nullopt);
}

}  // namespace
}  // namespace wardmote::codec
