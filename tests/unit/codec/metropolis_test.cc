// The records are made by tests/data/metropolis/make_records.py from Metropolis's field numbers.
#include "codec/metropolis.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>

#include "base/result.h"
#include "codec/protobuf.h"
#include "support/test_data.h"

namespace wardmote::codec::metropolis {
namespace {

using namespace std::string_literals;

std::string record(const std::string& name) {
  std::ifstream file(WARDMOTE_TEST_DATA "/metropolis/" + name, std::ios::binary);
  EXPECT_TRUE(file.good()) << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

const Version kVersion{
    .release = Release{.minor = 1},
    .git = GitInformation{.commit_hash = "0123456789abcdef0123456789abcdef01234567",
                          .commits_since_release = 4,
                          .build_tree_state = 2}};

TEST(MetropolisStatus, IsReadAndWrittenByteForByte) {
  const std::string bytes = record("status-done.bin");
  const auto status = decode_status(bytes);
  ASSERT_TRUE(status) << status.error().describe();
  EXPECT_EQ(*status, (ReconcilerStatus{.state = kStateDone,
                                       .version = kVersion,
                                       .minimum_compatible_release = Release{.minor = 1}}));
  EXPECT_EQ(encode(*status), bytes);
}

TEST(MetropolisStatus, OneThatIsWorkedOn) {
  const std::string bytes = record("status-working.bin");
  const auto status = decode_status(bytes);
  ASSERT_TRUE(status) << status.error().describe();
  EXPECT_EQ(status->state, kStateWorking);
  EXPECT_EQ(status->version->release, (Release{.minor = 1, .patch = 2}));
  EXPECT_EQ(status->minimum_compatible_release, Release{.major = 10000});
  EXPECT_EQ(encode(*status), bytes);
}

/// A part that is there and empty is 0.0.0; a part that is not there is not.
TEST(MetropolisStatus, ZeroIsNotMissing) {
  const auto zero = decode_status(record("status-zero.bin"));
  ASSERT_TRUE(zero);
  EXPECT_EQ(zero->version->release, Release());
  EXPECT_EQ(zero->minimum_compatible_release, Release());
  EXPECT_EQ(encode(*zero), record("status-zero.bin"));
  const auto without = decode_status(record("status-without-version.bin"));
  ASSERT_TRUE(without);
  EXPECT_FALSE(without->version.has_value());
  EXPECT_TRUE(without->minimum_compatible_release.has_value());
  const auto empty = decode_status("");
  ASSERT_TRUE(empty);
  EXPECT_EQ(*empty, ReconcilerStatus());
}

TEST(MetropolisStatus, WhatANewerReleaseAddedIsKept) {
  const std::string bytes = record("status-of-a-newer-release.bin");
  auto status = decode_status(bytes);
  ASSERT_TRUE(status) << status.error().describe();
  EXPECT_EQ(encode(*status), bytes);
  status->state = kStateWorking;
  const auto again = decode_status(encode(*status));
  ASSERT_TRUE(again);
  EXPECT_EQ(*again, *status);
}

/// Field 15001, bytes: a key of three bytes, which Metropolis skips as unknown.
TEST(MetropolisStatus, OurDigestStandsBehindTheirFields) {
  const ReconcilerStatus status{.state = kStateDone, .content = "digest"};
  EXPECT_EQ(encode(status), "\x08\x01\xca\xa9\x07\x06"s + "digest");
  EXPECT_EQ(decode_status(encode(status)).value(), status);
}

TEST(MetropolisStatus, ACutOrForeignRecordIsNoStatus) {
  const std::string bytes = record("status-done.bin");
  std::size_t read = 0;
  for (std::size_t size = 1; size < bytes.size(); ++size) {
    const auto cut = decode_status(bytes.substr(0, size));
    if (cut) {
      // Cut between two fields, it is a message: without a part that a status must have.
      EXPECT_FALSE(cut->version && cut->minimum_compatible_release) << size;
      ++read;
    } else {
      EXPECT_EQ(cut.error().code, Errc::kProtocol);
    }
  }
  EXPECT_EQ(read, 2U);
  for (const std::string& foreign :
       {"\x0a\x01x"s, "\x10\x01"s, "\x12\x02\x08\x01"s, "\xff"s, "{\"state\": 1}"s, "\x0b\x0c"s})
    EXPECT_FALSE(decode_status(foreign).has_value()) << foreign;
}

TEST(MetropolisStatus, HasALimit) {
  ProtoWriter writer;
  writer.bytes(7, std::string(kLongest, 'x'));
  EXPECT_EQ(decode_status(writer.take()).error().code, Errc::kLimit);
}

/// protobuf.dev, Encoding: "if the last value … the fields of the latter are merged".
TEST(MetropolisStatus, AMessageInTwoPiecesIsOne) {
  const auto status = decode_status("\x1a\x02\x08\x01\x1a\x02\x10\x02\x08\x02\x08\x01"s);
  ASSERT_TRUE(status);
  EXPECT_EQ(status->minimum_compatible_release, (Release{.major = 1, .minor = 2}));
  EXPECT_EQ(status->state, kStateDone);
}

TEST(MetropolisNode, IsReadWithRolesAndVersion) {
  const auto node = decode_node(record("node-controller.bin"));
  ASSERT_TRUE(node) << node.error().describe();
  EXPECT_EQ(node->id, "metropolis-1");
  ASSERT_TRUE(node->roles && node->status);
  EXPECT_EQ(node->roles->kubernetes_controller, "");
  EXPECT_EQ(node->status->version, kVersion);
  EXPECT_EQ(node->status->external_address, "203.0.113.7");
  EXPECT_EQ(node->status->boot_id.size(), 16U);
  // Nothing is lost when only the version is written anew.
  EXPECT_EQ(decode_node(encode(*node)).value(), *node);
  EXPECT_EQ(encode(*node).size(), record("node-controller.bin").size());
}

/// Reference 1.7.7: each of these ends Metropolis's reconciler with a panic, or is taken for
/// another.
TEST(MetropolisNode, PartsThatAreNotThere) {
  const auto worker = decode_node(record("node-worker.bin")).value();
  EXPECT_FALSE(worker.roles->kubernetes_controller.has_value());
  EXPECT_FALSE(decode_node(record("node-without-roles.bin")).value().roles.has_value());
  EXPECT_FALSE(decode_node(record("node-without-status.bin")).value().status.has_value());
  const auto without_release = decode_node(record("node-without-release.bin")).value();
  ASSERT_TRUE(without_release.status->version.has_value());
  EXPECT_FALSE(without_release.status->version->release.has_value());
}

TEST(MetropolisVersion, IsPrintedAsMetropolisDoes) {
  EXPECT_EQ(semver(kVersion), "0.1.0-dev4.g01234567.dirty");
  EXPECT_EQ(semver({.release = Release{.major = 1}}), "1.0.0-nostamp");
  EXPECT_EQ(semver({}), "0.0.0-nostamp");
  Version clean = kVersion;
  clean.git->commits_since_release = 0;
  clean.git->build_tree_state = kTreeClean;
  EXPECT_EQ(semver(clean), "0.1.0-g01234567");
  clean.git->commit_hash = "012";
  EXPECT_EQ(semver(clean), "0.1.0-g012");
}

TEST(MetropolisVersion, TakesAllNumbers) {
  const auto least = std::numeric_limits<std::int64_t>::min();
  const ReconcilerStatus status{.minimum_compatible_release = Release{.major = -1, .patch = least}};
  EXPECT_EQ(decode_status(encode(status)).value(), status);
}

}  // namespace
}  // namespace wardmote::codec::metropolis
