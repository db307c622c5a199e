#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace wardmote::codec::metropolis {

// The records in etcd on which Metropolis's nodes agree about releases, by their field numbers
// (monogon-dev/monogon: metropolis/node/kubernetes/reconciler and version/spec/spec.proto, commit
// 8b9bf216). What a newer release has added is kept, and written again with the rest.

/// Longer records are refused. etcd takes 1.5 MiB in a request.
inline constexpr std::size_t kLongest = 1U << 20U;

/// version.spec.Version.Release. One that nobody set is 0.0.0.
struct Release {
  std::int64_t major = 0;
  std::int64_t minor = 0;
  std::int64_t patch = 0;
  bool prerelease = false;  ///< it has words of a pre-release, which are kept in `other`
  std::string other{};
  friend bool operator==(const Release&, const Release&) = default;
};

/// version.spec.Version.GitInformation
struct GitInformation {
  std::string commit_hash{};
  std::uint64_t commits_since_release = 0;
  std::int64_t build_tree_state = 0;  ///< kTreeClean, or anything else
  std::string other{};
  friend bool operator==(const GitInformation&, const GitInformation&) = default;
};
inline constexpr std::int64_t kTreeClean = 1;

/// version.spec.Version
struct Version {
  std::optional<Release> release{};
  std::optional<GitInformation> git{};
  std::string other{};
  friend bool operator==(const Version&, const Version&) = default;
};

/// As Metropolis prints a version (version/version.go, Semver): `0.1.0-dev4.g01234567.dirty`,
/// `0.1.0-nostamp`. The hash is text from outside.
std::string semver(const Version& version);

/// KubernetesReconcilerStatus
struct ReconcilerStatus {
  std::int64_t state = 0;  ///< kStateDone, kStateWorking, or what nobody knows
  std::optional<Version> version{};
  std::optional<Release> minimum_compatible_release{};
  /// The digest of what was reconciled. Ours: Metropolis has no such field, and skips it.
  std::string content{};
  std::string other{};
  friend bool operator==(const ReconcilerStatus&, const ReconcilerStatus&) = default;
};
inline constexpr std::int64_t kStateDone = 1;
inline constexpr std::int64_t kStateWorking = 2;

/// NodeStatus
struct NodeStatus {
  std::string external_address{};
  std::optional<Version> version{};
  std::string boot_id{};
  std::string other{};
  friend bool operator==(const NodeStatus&, const NodeStatus&) = default;
};

/// NodeRoles. Whether a message is there says whether the node has the role.
struct NodeRoles {
  std::optional<std::string> kubernetes_controller{};
  std::string other{};
  friend bool operator==(const NodeRoles&, const NodeRoles&) = default;
};

/// Node
struct Node {
  std::string id{};
  std::optional<NodeRoles> roles{};
  std::optional<NodeStatus> status{};
  std::string other{};
  friend bool operator==(const Node&, const Node&) = default;
};

/// kProtocol: cut off or malformed. kLimit: longer than kLongest. As of every protobuf message, an
/// empty text is a record without any field.
Result<ReconcilerStatus> decode_status(std::string_view record);
Result<Node> decode_node(std::string_view record);

std::string encode(const ReconcilerStatus& status);
std::string encode(const Node& node);

}  // namespace wardmote::codec::metropolis
