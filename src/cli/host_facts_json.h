#pragma once

#include <boost/json/value.hpp>

#include "judge/endpoint/http.h"
#include "judge/host/exec.h"
#include "judge/host/file.h"
#include "judge/host/process.h"
#include "judge/service/service.h"
#include "judge/service/systemd.h"

namespace wardmote::cli {

/// A supervised service, a systemd unit, processes, a file, an HTTP answer and a command in the
/// `facts` of an observation. Times are in milliseconds unless their names say otherwise; an
/// unknown value is null.
boost::json::value facts_to_json(const judge::ServiceFacts& service);
boost::json::value facts_to_json(const judge::SystemdFacts& unit);
boost::json::value facts_to_json(const judge::ProcessListFacts& processes);
boost::json::value facts_to_json(const judge::FileFacts& file);
boost::json::value facts_to_json(const judge::HttpFacts& http);
boost::json::value facts_to_json(const judge::ExecFacts& exec);

}  // namespace wardmote::cli
