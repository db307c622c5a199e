#pragma once

#include <boost/json/value.hpp>

#include "judge/host/file.h"
#include "judge/host/process.h"
#include "judge/service/service.h"

namespace wardmote::cli {

/// What a supervised service, processes or a file look like in the `facts` of an observation; times
/// in milliseconds, what is not known is null.
boost::json::value facts_to_json(const judge::ServiceFacts& service);
boost::json::value facts_to_json(const judge::ProcessListFacts& processes);
boost::json::value facts_to_json(const judge::FileFacts& file);

}  // namespace wardmote::cli
