#include "codec/domain_xml.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <pugixml.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/text.h"

namespace wardmote::codec {
namespace {

constexpr std::size_t kLongestName = 1024;
constexpr std::size_t kMostChannels = 64;
constexpr std::size_t kMostDisks = 64;
constexpr std::size_t kMostAttributes = 32;
constexpr std::size_t kMostMetadata = 64;
constexpr std::string_view kNovaNamespace = "http://openstack.org/xmlns/libvirt/nova/";

std::string capped(std::string_view text) {
  return std::string(text.substr(0, kLongestName));
}

std::string_view local_name(std::string_view qualified) {
  const std::size_t colon = qualified.find(':');
  return colon == std::string_view::npos ? qualified : qualified.substr(colon + 1);
}

/// The namespace of an element that declares it itself, as libvirt makes every element below
/// `metadata` do.
std::string_view namespace_of(const pugi::xml_node& element) {
  const std::string_view qualified = element.name();
  const std::size_t colon = qualified.find(':');
  std::string declaration = "xmlns";
  if (colon != std::string_view::npos) declaration += ":" + std::string(qualified.substr(0, colon));
  return element.attribute(declaration.c_str()).value();
}

/// The first child of that name, whatever prefix it has.
pugi::xml_node child(const pugi::xml_node& parent, std::string_view name) {
  return parent.find_child(
      [name](const pugi::xml_node& one) { return local_name(one.name()) == name; });
}

NovaInstance read_nova(const pugi::xml_node& element) {
  NovaInstance nova;
  nova.name = capped(child(element, "name").text().get());
  nova.flavor = capped(child(element, "flavor").attribute("name").value());
  nova.project = capped(child(child(element, "owner"), "project").text().get());
  return nova;
}

DomainPolicy read_policy(const pugi::xml_node& element) {
  DomainPolicy policy;
  for (const pugi::xml_attribute& attribute : element.attributes()) {
    const std::string_view name = attribute.name();
    if (name.starts_with("xmlns")) continue;
    if (policy.attributes.size() == kMostAttributes) break;
    policy.attributes.emplace_back(capped(name), capped(attribute.value()));
  }
  return policy;
}

void read_metadata(const pugi::xml_node& metadata, DomainXml& domain) {
  std::size_t seen = 0;
  for (const pugi::xml_node& element : metadata.children()) {
    if (++seen > kMostMetadata) return;
    const std::string_view space = namespace_of(element);
    const std::string_view name = local_name(element.name());
    if (!domain.nova && name == "instance" && space.starts_with(kNovaNamespace))
      domain.nova = read_nova(element);
    if (!domain.policy && name == "guest" && space == kPolicyNamespace)
      domain.policy = read_policy(element);
  }
}

DomainChannel read_channel(const pugi::xml_node& element) {
  const pugi::xml_node target = element.child("target");
  const pugi::xml_node source = element.child("source");
  return {capped(target.attribute("name").value()), capped(target.attribute("state").value()),
          capped(source.attribute("mode").value()), capped(source.attribute("path").value())};
}

}  // namespace

const DomainChannel* DomainXml::agent() const noexcept {
  const auto found = std::ranges::find(channels, kAgentChannel, &DomainChannel::target);
  return found == channels.end() ? nullptr : &*found;
}

Result<DomainXml> parse_domain_xml(std::string_view xml) {
  if (xml.size() > kLargestDomainXml)
    return fail(Errc::kLimit, "domain: a description of {} bytes", xml.size());
  pugi::xml_document document;
  // No document type is read, so no entity of its own expands.
  const pugi::xml_parse_result parsed = document.load_buffer(
      xml.data(), xml.size(), pugi::parse_default | pugi::parse_trim_pcdata, pugi::encoding_utf8);
  if (!parsed)
    return fail(Errc::kProtocol, "domain: no XML at byte {}: {}", parsed.offset,
                parsed.description());
  const pugi::xml_node root = document.child("domain");
  DomainXml domain;
  domain.name = capped(root.child("name").text().get());
  const auto uuid = parse_uuid(root.child("uuid").text().get());
  if (domain.name.empty() || !uuid)
    return fail(Errc::kProtocol, "domain: the description has no name or no UUID");
  domain.uuid = *uuid;
  domain.id = parse_number<int>(root.attribute("id").value()).value_or(-1);
  const std::string_view vcpus = root.child("vcpu").text().get();
  domain.vcpus = std::max(1U, parse_number<unsigned>(vcpus).value_or(1));
  const pugi::xml_node devices = root.child("devices");
  domain.has_panic_device = !devices.child("panic").empty();
  for (const pugi::xml_node& element : devices.children("channel")) {
    if (domain.channels.size() == kMostChannels) break;
    domain.channels.push_back(read_channel(element));
  }
  for (const pugi::xml_node& element : devices.children("disk")) {
    std::string disk = capped(element.child("target").attribute("dev").value());
    const bool holds = !element.child("source").empty() && !disk.empty();
    if (holds && domain.disks.size() < kMostDisks) domain.disks.push_back(std::move(disk));
  }
  read_metadata(root.child("metadata"), domain);
  return domain;
}

std::optional<std::string> parse_uuid(std::string_view text) {
  constexpr std::size_t kLength = 36;
  if (text.size() != kLength) return std::nullopt;
  std::string uuid(text);
  for (std::size_t i = 0; i < kLength; ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    char& c = uuid[i];
    if (c >= 'A' && c <= 'F') c = static_cast<char>(c - 'A' + 'a');
    const bool hex = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
    if (dash ? c != '-' : !hex) return std::nullopt;
  }
  return uuid;
}

}  // namespace wardmote::codec
