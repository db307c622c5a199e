// What is wrong with a cluster, by what all of its members say:
// judge_cluster OVN_Northbound SECONDS NAME=ENDPOINT… where an endpoint is a control socket or
// tcp:HOST:PORT. Most faults must last before they are findings, so ask for twice the election
// timer and a few seconds.
#include <wardmote/judge/finding.h>
#include <wardmote/judge/raft/assess.h>
#include <wardmote/judge/raft/memory.h>
#include <wardmote/net/asio_runtime.h>
#include <wardmote/observe/ovn/cluster.h>
#include <wardmote/runtime/endpoint.h>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace std::chrono_literals;
namespace raft = wardmote::judge::raft;
namespace ovn = wardmote::observe::ovn;

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: judge_cluster DATABASE SECONDS NAME=ENDPOINT…\n");
    return 64;
  }
  std::vector<ovn::MemberTarget> targets;
  for (int i = 3; i < argc; ++i) {
    const std::string word = argv[i];
    const std::size_t equals = word.find('=');
    const auto endpoint = wardmote::runtime::parse_endpoint(
        equals == std::string::npos ? word : word.substr(equals + 1));
    if (equals == std::string::npos || !endpoint) {
      std::fprintf(stderr, "%s is not NAME=ENDPOINT\n", word.c_str());
      return 64;
    }
    ovn::MemberTarget target;
    target.name = word.substr(0, equals);
    target.database = argv[1];
    // A unix socket is taken for the control socket, a port for the database's.
    (endpoint->kind == wardmote::runtime::Endpoint::Kind::kUnix ? target.control : target.ovsdb) =
        *endpoint;
    targets.push_back(std::move(target));
  }

  wardmote::net::AsioRuntime runtime;
  ovn::Cluster cluster(runtime, std::move(targets));
  raft::Expectation expectation;
  expectation.database = argv[1];
  raft::Memory memory;  // since when each condition lasts
  raft::Assessment assessment;
  const auto end = runtime.now() + std::chrono::seconds(std::atoi(argv[2]));
  do {
    const std::vector<raft::Opinion> opinions =
        wardmote::net::run_task(runtime, cluster.look_all(runtime.deadline_in(900ms)));
    assessment = raft::assess(opinions, expectation, memory, runtime.now());
    std::this_thread::sleep_for(1s);
  } while (runtime.now() < end);

  for (const wardmote::judge::Finding& finding : assessment.findings) {
    std::printf("%s %s: %s\n", std::string(to_string(finding.severity)).c_str(),
                std::string(to_string(finding.code)).c_str(), finding.summary.c_str());
  }
  std::printf("%zu of %zu voters live\n", assessment.quorum.live, assessment.quorum.voters);
  return assessment.findings.empty() ? 0 : 2;
}
