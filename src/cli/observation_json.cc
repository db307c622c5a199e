#include "cli/observation_json.h"

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "base/text.h"
#include "base/time.h"
#include "cli/bgp_json.h"
#include "cli/endpoint_facts_json.h"
#include "cli/host_facts_json.h"
#include "judge/bgp/facts.h"
#include "judge/endpoint/dns.h"
#include "judge/endpoint/grpc.h"
#include "judge/endpoint/http.h"
#include "judge/endpoint/ping.h"
#include "judge/endpoint/tls.h"
#include "judge/host/exec.h"
#include "judge/host/file.h"
#include "judge/host/process.h"
#include "judge/observation.h"
#include "judge/outcome.h"
#include "judge/raft/opinion.h"
#include "judge/service/service.h"
#include "judge/service/systemd.h"
#include "serve/raft/cluster_view.h"

namespace wardmote::cli {
namespace {

namespace json = boost::json;

std::int64_t to_us(Duration d) noexcept {
  return std::chrono::duration_cast<std::chrono::microseconds>(d).count();
}

struct FactsToJson {
  const judge::Observation* observation;

  json::value operator()(std::monostate) const { return nullptr; }

  json::value operator()(const judge::TcpFacts& tcp) const {
    return json::object{{"connect_us", to_us(tcp.connect_time)}};
  }

  json::value operator()(const judge::TlsFacts& tls) const {
    json::array names;
    for (const std::string& name : tls.names) names.emplace_back(escape_control(name));
    json::object object{{"handshake_us", to_us(tls.handshake_time)},
                        {"version", tls.version},
                        {"cipher", tls.cipher},
                        {"subject", escape_control(tls.subject)},
                        {"issuer", escape_control(tls.issuer)},
                        {"names", std::move(names)},
                        {"not_after", format_utc(tls.not_after)},
                        {"first_to_expire", escape_control(tls.first_to_expire)},
                        {"trusted", tls.trusted},
                        {"distrust", nullptr}};
    if (!tls.trusted) object["distrust"] = escape_control(tls.distrust);
    return object;
  }

  json::value operator()(const judge::GrpcFacts& facts) const { return facts_to_json(facts); }
  json::value operator()(const judge::DnsFacts& facts) const { return facts_to_json(facts); }
  json::value operator()(const judge::PingFacts& facts) const { return facts_to_json(facts); }
  json::value operator()(const judge::bgp::BgpFacts& bgp) const { return to_json(bgp); }
  json::value operator()(const judge::ServiceFacts& facts) const { return facts_to_json(facts); }
  json::value operator()(const judge::SystemdFacts& facts) const { return facts_to_json(facts); }
  json::value operator()(const judge::ProcessListFacts& facts) const {
    return facts_to_json(facts);
  }
  json::value operator()(const judge::FileFacts& facts) const { return facts_to_json(facts); }
  json::value operator()(const judge::HttpFacts& facts) const { return facts_to_json(facts); }
  json::value operator()(const judge::ExecFacts& facts) const { return facts_to_json(facts); }

  /// As the only member of a cluster without a name, because the API's code writes members.
  json::value operator()(const judge::raft::Opinion& opinion) const {
    serve::ClusterView cluster;
    cluster.opinions = {opinion};
    cluster.assessment.members = {{observation->outcome, observation->reason}};
    cluster.judged = observation->ended;
    cluster.counters.members.emplace_back().looks.add(observation->ended - observation->begun);
    const json::object written = cluster.to_json({observation->ended, WallTime()});
    return written.at("members").as_array().front();
  }
};

}  // namespace

json::object to_json(std::string_view kind, const judge::Observation& observation) {
  const judge::Reason& reason = observation.reason;
  json::object object;
  object["kind"] = kind;
  object["subject"] = escape_control(observation.subject);
  object["outcome"] = to_string(observation.outcome);
  object["reason"] = nullptr;
  if (reason.code != judge::ReasonCode::kNone) object["reason"] = to_string(reason.code);
  object["detail"] = nullptr;
  if (!reason.text.empty()) object["detail"] = escape_control(reason.text);
  object["took_us"] = to_us(observation.ended - observation.begun);
  object["bytes_in"] = observation.cost.bytes_in;
  object["bytes_out"] = observation.cost.bytes_out;
  object["facts"] = std::visit(FactsToJson{&observation}, observation.facts);
  return object;
}

}  // namespace wardmote::cli
