// What was recorded is judged as it was then: every capture of a real cluster in trouble, and files
// that somebody has damaged.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "cli/evidence_file.h"
#include "cli/judging.h"
#include "judge/outcome.h"
#include "judge/raft/opinion.h"
#include "store/evidence.h"
#include "support/captured_opinions.h"
#include "support/ovn_captures.h"
#include "unit/cli/fixture.h"

namespace wardmote::cli {
namespace {

using namespace std::chrono_literals;
using judge::raft::Opinion;
using store::EvidenceHead;
using store::EvidenceLook;

const EvidenceHead kHead{.cluster = "OVN_Northbound",
                         .expectation = {.database = "OVN_Northbound",
                                         .addresses = {"tcp:127.0.0.1:16643"},
                                         .replicas = 3},
                         .every = 1s};

/// One look each second at what the capture shows; empty when it shows no members.
std::vector<EvidenceLook> looks_at(std::string_view capture, int seconds) {
  const std::vector<Opinion> opinions = testing::opinions_in(testing::read_capture(capture));
  std::vector<EvidenceLook> looks;
  for (int second = 0; second < seconds && !opinions.empty(); ++second) {
    const TimePoint begun = TimePoint(1h) + second * 1s;
    // A wall clock is not even: what is shown of it must be the recorded one.
    const WallTime at{480'000h + second * 1s + 123'456'789ns};
    looks.push_back({begun + 1500us, at, testing::later(opinions, begun, second * 1s)});
  }
  return looks;
}

std::string file_of(const std::vector<EvidenceLook>& looks) {
  std::string file = store::encode(kHead) + "\n";
  for (const EvidenceLook& look : looks) file += store::encode(look) + "\n";
  return file;
}

std::string verdict_on(const EvidenceHead& head, std::vector<EvidenceLook> looks) {
  Judging judging(head);
  for (EvidenceLook& look : looks) judging.take(std::move(look));
  judging.finish();
  return boost::json::serialize(judging.result());
}

TEST(Replay, EveryCaptureIsJudgedAsItWasByteForByte) {
  int judged = 0;
  for (const std::string& capture : testing::capture_names()) {
    const std::vector<EvidenceLook> looks = looks_at(capture, 45);
    if (looks.empty()) continue;
    const std::string file = file_of(looks);
    Result<Evidence> read = read_evidence(file);
    ASSERT_TRUE(read.has_value()) << capture << ": " << read.error().describe();
    EXPECT_EQ(read->head, kHead);
    EXPECT_EQ(file_of(read->looks), file) << capture;
    EXPECT_EQ(verdict_on(read->head, std::move(read->looks)), verdict_on(kHead, looks)) << capture;
    ++judged;
  }
  EXPECT_GE(judged, 15) << "the captures are not found any more";
}

TEST(Replay, NothingThatTheJudgeSeesIsLost) {
  Opinion opinion;
  opinion.member = "a \"b\"\n\x1b[31m";
  opinion.control_command = {"kubectl", "exec", ""};
  opinion.begun = TimePoint(1ns);
  opinion.ended = TimePoint(2ns);
  opinion.mode = judge::raft::Mode::kClustered;
  opinion.local_source.reason = {judge::ReasonCode::kProtocol, std::string("\xff\0\xfe", 3)};
  auto& status = opinion.status.emplace();
  status.server_id = {.high = 0xdea6000000000000, .low = 0, .digits = 4};
  status.cluster_id = {.high = 1, .low = 2, .digits = 32};
  status.term = ~std::uint64_t{0};
  status.leader = {judge::raft::PeerName::Kind::kNamed, "self"};
  status.vote = {judge::raft::PeerName::Kind::kSelf, ""};
  status.election_timer_next = 16s;
  status.links = {{"0000", true, false}};
  status.servers = {{.nickname = "dea6",
                     .self = true,
                     .phase = judge::raft::Phase::kOther,
                     .next_index = 7,
                     .last_message = 340ms}};
  status.changes = {{.adding = true, .address = "tcp:[::1]:6643"}};
  opinion.local.emplace().index = 0;

  const std::string file = file_of({{TimePoint(3ns), WallTime(4ns), {opinion}}});
  const Result<Evidence> read = read_evidence(file);
  ASSERT_TRUE(read.has_value()) << read.error().describe();
  const Opinion& again = read->looks.front().opinions.front();
  EXPECT_EQ(again.member, opinion.member);
  EXPECT_EQ(again.control_command, opinion.control_command);
  EXPECT_EQ(again.begun, opinion.begun);
  EXPECT_EQ(again.ended, opinion.ended);
  EXPECT_EQ(again.mode, opinion.mode);
  EXPECT_EQ(again.status_source, opinion.status_source);
  EXPECT_EQ(again.local_source, opinion.local_source);
  EXPECT_EQ(again.status, opinion.status);
  EXPECT_EQ(again.local, opinion.local);
  EXPECT_EQ(read->looks.front().at, WallTime(4ns));
}

std::string complaint(std::string_view file) {
  const Result<Evidence> read = read_evidence(file);
  return read ? "" : read.error().context;
}

/// A file of one look with `from` replaced once.
std::string with(const std::string& from, const std::string& to) {
  std::string file = file_of(looks_at("01-healthy.txt", 2));
  const std::size_t at = file.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? "" : file.replace(at, from.size(), to);
}

TEST(Replay, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(complaint(""), "no whole line");
  EXPECT_EQ(complaint("hello\n"), "line 1: not an object of JSON");
  EXPECT_EQ(complaint("{}\n"), "line 1: no head of an evidence file");
  EXPECT_EQ(complaint("{\"wardmote_evidence\":2}\n"),
            "line 1: an evidence file of another version than 1");
  EXPECT_EQ(complaint("{\"wardmote_evidence\":1}\n"), "line 1: cluster is missing");
  EXPECT_EQ(complaint(file_of({})), "a head and no look");
  EXPECT_EQ(complaint(with("\"replicas\":3", "\"replicas\":-3")),
            "line 1: expect.replicas is not a whole number");
  EXPECT_EQ(complaint(with("\"role\":\"leader\"", "\"role\":\"king\"")),
            "line 2: opinions[0].status.role is none of the known words");
  EXPECT_EQ(
      complaint(with("\"election_timer_ms\":1000", "\"election_timer_ms\":1e3")),
      "line 2: opinions[0].status.election_timer_ms is not a whole number from 0 to 31622400000");
  EXPECT_EQ(complaint(with("\"member\":\"m2\"", "\"member\":\"m1\"")),
            "line 2: opinions has a member twice");
  EXPECT_EQ(complaint(with("\"judged_ns\":36000", "\"judged_ns\":35000")),
            "line 2: opinions[0].ended_ns is not between its begin and the judgement");
}

TEST(Replay, TheLastLineOfARecorderThatWasKilledIsLeftOut) {
  const std::string two = file_of(looks_at("01-healthy.txt", 2));
  const Result<Evidence> read = read_evidence(std::string_view(two).substr(0, two.size() - 100));
  ASSERT_TRUE(read.has_value()) << read.error().describe();
  EXPECT_EQ(read->looks.size(), 1U);
}

/// The number at or after `at`, replaced.
void renumber(std::string& file, std::size_t at, const std::string& number) {
  constexpr std::string_view kDigits = "0123456789";
  const std::size_t begin = file.find_first_of(kDigits, at);
  if (begin == std::string::npos) return;
  const std::size_t end = file.find_first_not_of(kDigits, begin);
  file.replace(begin, end - begin, number);
}

/// Whatever somebody did to a file: it is judged or refused, and does no harm.
RC_GTEST_PROP(Replay, TakesAnyFile, ()) {
  static const std::string file = file_of(looks_at("14-stale-same-address.txt", 2));
  std::string damaged = file;
  const int numbers = *rc::gen::inRange(0, 20);
  for (int i = 0; i < numbers; ++i) {
    renumber(damaged, *rc::gen::inRange<std::size_t>(0, damaged.size()),
             *rc::gen::element<std::string>("0", "1", "31622400000", "9223372036854775807",
                                            "18446744073709551615"));
  }
  const int wounds = *rc::gen::inRange(0, 2);
  for (int i = 0; i < wounds; ++i) {
    const auto at = *rc::gen::inRange<std::size_t>(0, damaged.size());
    const auto length = std::min(*rc::gen::inRange<std::size_t>(0, 12), damaged.size() - at);
    damaged.replace(at, length,
                    *rc::gen::element<std::string>("", "-1", "null", "\"", "[]", "\n", "\xff"));
  }
  Result<Evidence> read = read_evidence(damaged);
  RC_CLASSIFY(read.has_value());
  if (read) RC_ASSERT(!verdict_on(read->head, std::move(read->looks)).empty());
}

class RecordedFile : public ::testing::Test {
 protected:
  RecordedFile() { std::filesystem::remove(path_); }
  ~RecordedFile() override { std::filesystem::remove(path_); }

  const std::string path_ = ::testing::TempDir() + "evidence.jsonl";
};

TEST_F(RecordedFile, IsReadableByItsOwnerOnlyAndNeverWrittenOver) {
  const std::vector<EvidenceLook> looks = looks_at("01-healthy.txt", 3);
  {
    EvidenceWriter writer;
    ASSERT_TRUE(writer.begin(path_, kHead).has_value());
    for (const EvidenceLook& look : looks) ASSERT_TRUE(writer.add(look).has_value());
  }
  EXPECT_EQ(read_text(path_), file_of(looks));
  EXPECT_EQ(std::filesystem::status(path_).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  EvidenceWriter second;
  EXPECT_EQ(second.begin(path_, kHead).error().context, path_ + ": File exists");
}

TEST(EvidenceWriter, TellsOfAFullDisk) {
  EvidenceWriter writer;
  // The device exists, so it is not opened as a new file.
  EXPECT_FALSE(writer.begin("/dev/full", kHead).has_value());
  EXPECT_TRUE(writer.add({}).has_value()) << "nothing is recorded, so nothing can fail";
}

}  // namespace
}  // namespace wardmote::cli
