#include "codec/metropolis.h"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/format.h"
#include "base/result.h"
#include "codec/protobuf.h"

namespace wardmote::codec::metropolis {
namespace {

using Kind = ProtoField::Kind;

/// For a field that Metropolis does not have: above all numbers that it will give out, below those
/// that protobuf keeps for itself.
constexpr std::uint32_t kContent = 15001;
constexpr std::size_t kShortHash = 8;

Result<void> is(const ProtoField& field, Kind kind) {
  if (field.kind == kind) return {};
  return fail(Errc::kProtocol, "field {} has another type", field.number);
}

template <std::integral T>
Result<void> take(const ProtoField& field, T& into) {
  into = static_cast<T>(field.value);
  return is(field, Kind::kNumber);
}

Result<void> take(const ProtoField& field, std::string& into) {
  into = field.bytes;
  return is(field, Kind::kBytes);
}

Result<void> keep(const ProtoField& field, std::string& other) {
  ProtoWriter writer;
  writer.copy(field);
  other += writer.take();
  return {};
}

/// A message that comes twice is one message with the fields of both.
template <class Message>
Result<void> take(const ProtoField& field, std::optional<Message>& into);

Result<void> read(const ProtoField& field, Release& release) {
  switch (field.number) {
    case 1: return take(field, release.major);
    case 2: return take(field, release.minor);
    case 3: return take(field, release.patch);
    case 4: release.prerelease = true; return keep(field, release.other);
    default: return keep(field, release.other);
  }
}

Result<void> read(const ProtoField& field, GitInformation& git) {
  switch (field.number) {
    case 1: return take(field, git.commit_hash);
    case 2: return take(field, git.commits_since_release);
    case 3: return take(field, git.build_tree_state);
    default: return keep(field, git.other);
  }
}

Result<void> read(const ProtoField& field, Version& version) {
  switch (field.number) {
    case 1: return take(field, version.release);
    case 2: return take(field, version.git);
    default: return keep(field, version.other);
  }
}

Result<void> read(const ProtoField& field, ReconcilerStatus& status) {
  switch (field.number) {
    case 1: return take(field, status.state);
    case 2: return take(field, status.version);
    case 3: return take(field, status.minimum_compatible_release);
    case kContent: return take(field, status.content);
    default: return keep(field, status.other);
  }
}

Result<void> read(const ProtoField& field, NodeStatus& status) {
  switch (field.number) {
    case 1: return take(field, status.external_address);
    case 4: return take(field, status.version);
    case 5: return take(field, status.boot_id);
    default: return keep(field, status.other);
  }
}

Result<void> read(const ProtoField& field, NodeRoles& roles) {
  if (field.number != 3) return keep(field, roles.other);
  const Result<void> right = is(field, Kind::kBytes);
  if (!right) return right;
  // It is empty today. Two pieces of one message are the message.
  roles.kubernetes_controller = roles.kubernetes_controller.value_or("").append(field.bytes);
  return {};
}

Result<void> read(const ProtoField& field, Node& node) {
  switch (field.number) {
    case 4: return take(field, node.roles);
    case 5: return take(field, node.status);
    case 10: return take(field, node.id);
    default: return keep(field, node.other);
  }
}

template <class Message>
Result<void> read_all(std::string_view bytes, Message& into) {
  return for_each_field(bytes, [&](const ProtoField& field) { return read(field, into); });
}

template <class Message>
Result<void> take(const ProtoField& field, std::optional<Message>& into) {
  const Result<void> right = is(field, Kind::kBytes);
  if (!right) return right;
  if (!into) into.emplace();
  return read_all(field.bytes, *into);
}

template <class Message>
Result<Message> decode(std::string_view record, std::string_view name) {
  if (record.size() > kLongest)
    return fail(Errc::kLimit, "a {} of more than {} bytes", name, kLongest);
  Message message;
  const Result<void> right = read_all(record, message);
  if (!right) return with_context(right, "a {}", name);
  return message;
}

std::string write(const Release& release);
std::string write(const GitInformation& git);
std::string write(const Version& version);
std::string write(const NodeStatus& status);
std::string write(const NodeRoles& roles);

template <class Message>
void put(ProtoWriter& writer, std::uint32_t number, const std::optional<Message>& message) {
  if (message) writer.message(number, write(*message));
}

std::string write(const Release& release) {
  ProtoWriter writer;
  writer.number(1, release.major);
  writer.number(2, release.minor);
  writer.number(3, release.patch);
  return writer.take() + release.other;
}

std::string write(const GitInformation& git) {
  ProtoWriter writer;
  writer.bytes(1, git.commit_hash);
  writer.number(2, static_cast<std::int64_t>(git.commits_since_release));
  writer.number(3, git.build_tree_state);
  return writer.take() + git.other;
}

std::string write(const Version& version) {
  ProtoWriter writer;
  put(writer, 1, version.release);
  put(writer, 2, version.git);
  return writer.take() + version.other;
}

std::string write(const NodeStatus& status) {
  ProtoWriter writer;
  writer.bytes(1, status.external_address);
  put(writer, 4, status.version);
  writer.bytes(5, status.boot_id);
  return writer.take() + status.other;
}

std::string write(const NodeRoles& roles) {
  ProtoWriter writer;
  if (roles.kubernetes_controller) writer.message(3, *roles.kubernetes_controller);
  return writer.take() + roles.other;
}

}  // namespace

std::string semver(const Version& version) {
  const Release release = version.release.value_or(Release());
  std::string text = fmt::format("{}.{}.{}-", release.major, release.minor, release.patch);
  if (!version.git) return text + "nostamp";
  const GitInformation& git = *version.git;
  if (git.commits_since_release != 0) text += fmt::format("dev{}.", git.commits_since_release);
  // Metropolis ends here with a panic if the hash is shorter.
  text += fmt::format("g{}", std::string_view(git.commit_hash).substr(0, kShortHash));
  if (git.build_tree_state != kTreeClean) text += ".dirty";
  return text;
}

Result<ReconcilerStatus> decode_status(std::string_view record) {
  return decode<ReconcilerStatus>(record, "reconciler status");
}

Result<Node> decode_node(std::string_view record) {
  return decode<Node>(record, "node");
}

std::string encode(const ReconcilerStatus& status) {
  ProtoWriter writer;
  writer.number(1, status.state);
  put(writer, 2, status.version);
  put(writer, 3, status.minimum_compatible_release);
  writer.bytes(kContent, status.content);
  return writer.take() + status.other;
}

std::string encode(const Node& node) {
  ProtoWriter writer;
  put(writer, 4, node.roles);
  put(writer, 5, node.status);
  writer.bytes(10, node.id);
  return writer.take() + node.other;
}

}  // namespace wardmote::codec::metropolis
