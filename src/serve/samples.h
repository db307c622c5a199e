#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "serve/route.h"
#include "store/samples.h"

namespace wardmote::serve {

struct SampleQuery {
  std::string subject;  ///< empty: list only the things that have samples
  WallTime since;
};

/// The query `subject=NAME&since=24h`; without `since` it is a day. kInvalid says what is wrong.
Result<SampleQuery> parse_sample_query(std::string_view query, WallTime now);

/// {"at", "subject", "step_s", "stored": whether anything is kept at all, "dropped",
///  "subjects": of whom there are samples; null when `subject` was asked for,
///  "series": [{"measure", "samples": [{"at", "count", "sum", "min", "max"}]}]}, oldest first.
boost::json::object samples_json(const store::SampleAnswer& answer, const std::string& subject,
                                 const store::Samples& samples, WallTime now);

/// GET /api/v1/samples. `samples` outlives it and its answers.
Route samples_route(store::Samples& samples);

}  // namespace wardmote::serve
