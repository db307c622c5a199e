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

/// {"at", "from", "step_s", "stored", "complete", "rows": [{"subject", "cells": [null where
///  nothing was seen, or [looks, good ones, microseconds on average, at most]]}]}
boost::json::object heat_map_json(const store::HeatMap& map, const store::Samples& samples,
                                  WallTime now);

/// GET /api/v1/heatmap: `?prefix=guest/`, `?since=1h`.
Route heat_map_route(store::Samples& samples);

/// GET /api/v1/samples. `samples` outlives it and its answers.
Route samples_route(store::Samples& samples);

}  // namespace wardmote::serve
