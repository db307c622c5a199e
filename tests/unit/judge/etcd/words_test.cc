// What judge/raft finds in an etcd cluster is told in the words of etcd: random clusters raise
// every finding that one can raise, and no sentence of any speaks of OVSDB.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "judge/etcd/dialect.h"
#include "judge/raft/assess.h"
#include "judge/raft/memory.h"
#include "support/test_data.h"
#include "unit/judge/etcd/cluster_fixture.h"
#include "unit/judge/raft/fake_cluster.h"

namespace wardmote::judge::etcd {
namespace {

using namespace std::chrono_literals;
using enum Code;

const std::regex kOfOvsdb(
    R"(ovs|_Server|appctl|cluster/|\bsid\b|kick|last msg|Servers:|ID: [0-9a-f]{4} \(|server.id|answer as server|)"
    R"(\b(Role|Status|Term|Leader|Log|Vote): [a-z\[]*[g-z\[]|Entries not|Election timer|match_index|next_index|socket|database file|)"
    R"(\bJoin\b|Connections:)",
    std::regex::icase);

std::string page_of(const std::string& name) {
  std::ifstream file(std::filesystem::path(WARDMOTE_TEST_DATA) / "../../docs" / name);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Every sentence once, whatever its numbers are.
class Sentences {
 public:
  void expect_no_word_of_ovsdb(const std::string& code, const std::string& sentence) {
    std::string shape = sentence;
    for (char& c : shape) c = c >= '0' && c <= '9' ? '0' : c;
    if (!seen_.insert(shape).second) return;
    std::smatch match;
    EXPECT_FALSE(std::regex_search(sentence, match, kOfOvsdb))
        << code << " says '" << match.str() << "': " << sentence;
  }

 private:
  std::set<std::string> seen_;
};

/// Clusters in which anything may be wrong.
class EtcdWordsTest : public EtcdClusterTest {
 protected:
  template <class T>
  T one_of(std::vector<T> choices) {
    return choices[std::uniform_int_distribution<std::size_t>(0, choices.size() - 1)(random_)];
  }
  bool chance(int percent) { return std::uniform_int_distribution(0, 99)(random_) < percent; }

  /// One cause, which lasts until the next.
  void break_something() {
    const auto at = one_of<std::size_t>({0, 1, 2});
    switch (one_of<int>({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11})) {
      case 0:
      case 1:
        silence(at, one_of<ReasonCode>({ReasonCode::kRefused, ReasonCode::kHung,
                                        ReasonCode::kUnreachable, ReasonCode::kDenied}));
        break;
      case 2: lead(one_of<std::uint64_t>({0, id(0), id(1), id(2), 0x99})); break;
      case 3:
        if (MemberFacts* const facts = facts_of(at)) facts->leader = id(at);
        break;
      case 4:
        if (MemberFacts* const facts = facts_of(at)) facts->term += one_of<std::uint64_t>({1, 3});
        break;
      case 5:
        if (MemberFacts* const facts = facts_of(at)) facts->cluster_id = 0x1234;
        break;
      case 6:
        if (MemberFacts* const facts = facts_of(at)) facts->member_id = id((at + 1) % 3);
        break;
      case 7: change_list(); break;
      case 8:
        if (MemberFacts* const facts = facts_of(at)) facts->members.erase(facts->members.begin());
        break;
      case 9:
        if (MemberFacts* const facts = facts_of(at))
          facts->members.back().peer_urls = {"http://10.0.0.7:2380"};
        break;
      case 10: stuck_ = at; break;
      default:
        if (MemberFacts* const facts = facts_of(at)) {
          facts->applied = 1;
          applies_ = false;
        }
        break;
    }
  }

  /// The same list everywhere.
  void change_list() {
    const ListedMember learner{
        .id = 8, .name = "m3", .peer_urls = {"http://10.0.0.3:2380"}, .learner = true};
    const ListedMember unstarted{.id = 7, .name = "", .peer_urls = {"http://10.0.0.3:2380"}};
    const ListedMember ghost{.id = 7, .name = "old", .peer_urls = {"http://10.0.0.2:2380"}};
    const auto more = one_of<std::vector<ListedMember>>(
        {{learner}, {unstarted}, {ghost}, {ghost, learner}, {}, {}});
    for (MemberView& view : views_) {
      if (!view.facts) continue;
      if (more.empty()) view.facts->members.pop_back();
      for (const ListedMember& member : more) view.facts->members.push_back(member);
    }
  }

  void lead(std::uint64_t leader) {
    for (MemberView& view : views_) {
      if (view.facts) view.facts->leader = leader;
    }
  }

  MemberFacts* facts_of(std::size_t at) { return views_[at].facts ? &*views_[at].facts : nullptr; }

  void live(int seconds) {
    for (int i = 0; i < seconds; ++i) {
      for (std::size_t at = 0; at < views_.size(); ++at) {
        MemberFacts* const facts = facts_of(at);
        if (facts == nullptr || at == stuck_) continue;
        facts->index += 20;
        if (applies_) facts->applied = facts->index;
      }
      if (flaps_) lead(id(static_cast<std::uint64_t>(i / 3 % 3)));
      if (flaps_) raise_term();
      if (loops_) loop(i);
      look_once();
    }
  }

  void raise_term() {
    for (MemberView& view : views_) {
      if (view.facts) ++view.facts->term;
    }
  }
  /// Ends and comes back.
  void loop(int second) {
    if (second % 6 == 0) silence(2, ReasonCode::kRefused);
    if (second % 6 == 3) views_[2] = member(2);
  }

  void look_once() {
    looks(1);
    for (const Finding& finding : last_.findings) check(finding);
    for (const raft::MemberVerdict& verdict : last_.members)
      sentences_.expect_no_word_of_ovsdb("a member", verdict.reason.text);
  }

  void check(const Finding& finding) {
    const std::string name(to_string(finding.code));
    seen_.insert(name);
    sentences_.expect_no_word_of_ovsdb(name, finding.summary);
    for (const Evidence& evidence : finding.evidence) {
      EXPECT_FALSE(evidence.says.empty()) << name;
      sentences_.expect_no_word_of_ovsdb(name, evidence.says);
    }
    if (!finding.advice) return;
    sentences_.expect_no_word_of_ovsdb(name, finding.advice->text);
    EXPECT_TRUE(finding.advice->command.empty()) << name << ": nothing of etcd is repaired";
  }

  void begin_anew(unsigned seed) {
    random_.seed(seed);
    views_ = {member(0), member(1), member(2)};
    memory_ = {};
    expectation_ = {};
    if (chance(50)) {
      expectation_.peer_urls = {
          "http://10.0.0.0:2380", "http://10.0.0.1:2380",
          one_of<std::string>({"http://10.0.0.2:2380", "http://10.0.0.9:2380"})};
    }
    stuck_ = 3;
    applies_ = true;
    flaps_ = chance(10);
    loops_ = chance(10);
  }

  std::mt19937 random_;
  std::size_t stuck_ = 3;  ///< whose log stands still; none
  bool applies_ = true;
  bool flaps_ = false;
  bool loops_ = false;
  std::set<std::string> seen_;  ///< codes
  Sentences sentences_;
};

TEST_F(EtcdWordsTest, NoSentenceSpeaksOfOvsdbAndThePageNamesEveryFindingOfRaft) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    begin_anew(seed);
    live(3);
    for (int i = 0; i < 3; ++i) {
      break_something();
      live(15);
    }
    // What is not known of a member becomes a finding after a minute.
    if (chance(10)) live(60);
    if (HasFailure()) FAIL() << "seed " << seed;
  }
  const std::string page = page_of("etcd-clusters.md");
  for (const CodeInfo& row : catalogue()) {
    if (!row.name.starts_with("RAFT_")) continue;
    const std::string name(row.name);
    const bool raised = seen_.contains(name);
    EXPECT_EQ(page.find("[" + name + "]") != std::string::npos, raised) << name;
    EXPECT_EQ(page_of("findings/" + name + ".md").find("etcd-clusters.md") != std::string::npos,
              raised)
        << name << ": its page says what is different for etcd";
  }
}

/// Whoever reads an id finds it in the output of etcdctl, which has no leading zeros.
TEST_F(EtcdWordsTest, IdsAreWrittenAsEtcdctlWritesThem) {
  for (MemberView& view : views_) view.facts->members[2].id = 0xabc;
  views_[2].facts->member_id = 0xabc;
  looks(3);
  views_[2].facts->applied = 1;
  looks(20);
  const Finding* const found = find(kRaftApplyStall);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->subjects, (std::vector<std::string>{"etcd-2", "abc", "http://10.0.0.2:2380"}));
  EXPECT_EQ(found->summary, "etcd-2 (abc) does not apply 99 committed entries after index 1");
  EXPECT_EQ(found->evidence.front().says,
            "Leader: 8e9e05c52164694d; RaftIndex: 100; RaftAppliedIndex: 1");
}

/// The same cluster in two dialects, second for second.
class TwoDialects {
 public:
  raft::FakeCluster cluster{3};

  void watch(int seconds) {
    for (int i = 0; i < seconds; ++i) {
      const raft::Assessment one = cluster.watch(1s);
      std::vector<raft::Opinion> opinions = cluster.opinions();
      for (raft::Opinion& opinion : opinions) opinion.dialect = &kEtcd;
      other = raft::assess(opinions, cluster.expectation, memory_, cluster.now());
      EXPECT_EQ(raft::told(other).size(), raft::told(one).size());
      EXPECT_EQ(other.verdict, one.verdict);
      for (std::size_t at = 0; at < one.members.size(); ++at)
        EXPECT_EQ(other.members[at].outcome, one.members[at].outcome);
      for (std::size_t at = 0; at < std::min(one.findings.size(), other.findings.size()); ++at) {
        EXPECT_EQ(other.findings[at].code, one.findings[at].code);
        EXPECT_EQ(other.findings[at].severity, one.findings[at].severity);
        EXPECT_EQ(other.findings[at].since, one.findings[at].since);
      }
    }
  }

  raft::Assessment other;

 private:
  raft::Memory memory_;
};

TEST(Dialects, DecideNothingAndThatOfEtcdProposesNoRemoval) {
  TwoDialects two;
  two.watch(5);
  two.cluster.kill(2);
  two.watch(20);
  two.cluster.heal(2);
  two.cluster.node(2).id = *raft::parse_member_id("d8d142e3-c38f-46e8-ae36-3db41907e3ae");
  two.cluster.enlist(2);
  two.watch(60);
  const Finding& ghost = raft::the(kRaftStaleMember, two.other);
  ASSERT_TRUE(ghost.advice) << "OVN's has the command of a kick here";
  EXPECT_TRUE(ghost.advice->command.empty());
  EXPECT_EQ(ghost.advice->text,
            "Do not remove 1430fed6ec544795: only its host can tell that it is gone for good.");
  two.cluster.isolate(0);
  two.watch(30);
}

}  // namespace
}  // namespace wardmote::judge::etcd
