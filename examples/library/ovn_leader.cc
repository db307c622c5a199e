// Who leads, as one member of an OVN database cluster sees it: ovn_leader OVN_Northbound
// /run/ovn/ovnnb_db.ctl
#include <wardmote/judge/raft/opinion.h>
#include <wardmote/net/asio_runtime.h>
#include <wardmote/observe/ovn/member.h>
#include <wardmote/runtime/endpoint.h>
#include <chrono>
#include <cstdio>
#include <utility>

using namespace std::chrono_literals;

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: ovn_leader DATABASE CONTROL_SOCKET\n");
    return 64;
  }
  wardmote::net::AsioRuntime runtime;
  wardmote::observe::ovn::MemberTarget target;
  target.database = argv[1];
  target.control = wardmote::runtime::Endpoint::unix_socket(argv[2]);
  wardmote::observe::ovn::Member member(runtime, std::move(target));

  const wardmote::judge::raft::Opinion opinion =
      wardmote::net::run_task(runtime, member.look(runtime.deadline_in(2s)));
  if (!opinion.status) {
    std::fprintf(stderr, "no status: %s\n", opinion.status_source.reason.text.c_str());
    return 3;
  }
  const wardmote::judge::raft::PeerName& leader = opinion.status->leader;
  using Kind = wardmote::judge::raft::PeerName::Kind;
  std::printf("term %llu, leader %s\n", static_cast<unsigned long long>(opinion.status->term),
              leader.kind == Kind::kSelf    ? "itself"
              : leader.kind == Kind::kNamed ? leader.name.c_str()
                                            : "unknown");
  return leader.kind == Kind::kUnknown ? 2 : 0;
}
