#pragma once
// For records: a field that is absent or has another type reads as nothing.

#include <boost/json/object.hpp>
#include <optional>
#include <string_view>

#include "base/epoch_ms.h"
#include "base/result.h"
#include "base/time.h"
#include "codec/json_fields.h"  // IWYU pragma: export

namespace wardmote::store {

using codec::flag_in;
using codec::integer_in;
using codec::text_in;
using codec::texts_in;

/// kProtocol when it is no object of JSON.
Result<boost::json::object> parse_record(std::string_view text);

inline std::optional<WallTime> wall_in(const boost::json::object& object, std::string_view key) {
  const auto ms = integer_in(object, key);
  return ms ? moment_of_epoch_ms(*ms) : std::nullopt;
}

}  // namespace wardmote::store
