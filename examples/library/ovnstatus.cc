// Both databases of OVN as this host's servers see them, in the JSON of cozystack's ovnstatus:
// ovnstatus [NB_CONTROL NB_OVSDB SB_CONTROL SB_OVSDB]
#include <wardmote/net/asio_runtime.h>
#include <wardmote/observe/ovn/client.h>
#include <wardmote/observe/ovn/client_json.h>
#include <cstdio>
#include <utility>

namespace ovn = wardmote::observe::ovn;

int main(int argc, char** argv) {
  ovn::ClientOptions options;
  if (argc == 5) {
    options.nb_control = argv[1];
    options.nb_ovsdb = argv[2];
    options.sb_control = argv[3];
    options.sb_ovsdb = argv[4];
  } else if (argc != 1) {
    std::fprintf(stderr, "usage: ovnstatus [NB_CONTROL NB_OVSDB SB_CONTROL SB_OVSDB]\n");
    return 64;
  }
  wardmote::net::AsioRuntime runtime;
  ovn::Client client(runtime, std::move(options));  // runs ovsdb-client and ovn-appctl
  const ovn::BothHealth both = wardmote::net::run_task(runtime, client.health_both());
  std::printf("%s\n%s\n", to_json(both.northbound).c_str(), to_json(both.southbound).c_str());
  const bool quorum = both.northbound.has_quorum() && both.southbound.has_quorum();
  return quorum ? 0 : 2;
}
