#pragma once

#include <boost/json/value.hpp>

#include "judge/endpoint/http.h"
#include "judge/host/exec.h"
#include "judge/host/file.h"
#include "judge/host/process.h"
#include "judge/service/service.h"
#include "judge/service/systemd.h"

namespace wardmote::cli {

/// What a supervised service, a unit of systemd, processes, a file, an HTTP answer or a command
/// look like in the `facts` of an observation; times in milliseconds unless their names say
/// otherwise, what is not known is null.
boost::json::value facts_to_json(const judge::ServiceFacts& service);
boost::json::value facts_to_json(const judge::SystemdFacts& unit);
boost::json::value facts_to_json(const judge::ProcessListFacts& processes);
boost::json::value facts_to_json(const judge::FileFacts& file);
boost::json::value facts_to_json(const judge::HttpFacts& http);
boost::json::value facts_to_json(const judge::ExecFacts& exec);

}  // namespace wardmote::cli
