#pragma once

#include <boost/json/value.hpp>

#include "judge/endpoint/dns.h"
#include "judge/endpoint/grpc.h"
#include "judge/endpoint/ping.h"

namespace wardmote::cli {

/// The answers of gRPC servers, name servers and hosts in the `facts` of an observation; an unknown
/// value is null.
boost::json::value facts_to_json(const judge::GrpcFacts& grpc);
boost::json::value facts_to_json(const judge::DnsFacts& dns);
boost::json::value facts_to_json(const judge::PingFacts& ping);

}  // namespace wardmote::cli
