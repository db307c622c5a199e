#pragma once

#include <boost/json/object.hpp>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "store/clock_pair.h"

namespace wardmote::store {

/// Writes until when something holds that several agents read, so that they need not agree on the
/// time of day.
void put_end(boost::json::object& record, TimePoint end, const ClockPair& clock);

/// By the clock of the boot that wrote it, which never jumps; with another, when all of its time
/// has passed from now on. Never by the clock on the wall, which may be wrong. Nothing: it has no
/// end.
std::optional<TimePoint> end_in(const boost::json::object& record, const ClockPair& clock);

/// Reads records with such an end again and again, as they stand in a store. Nobody who was not
/// there knows for how long one has stood: it holds for all of its time from when its record was
/// first read here.
template <typename Record, Result<Record> (*Decode)(std::string_view, const ClockPair&)>
class StandingReader {
 public:
  Result<Record> read(const std::string& key, const std::string& text, const ClockPair& clock) {
    Known& known = known_[key];
    if (known.text == text) return known.record;
    auto record = Decode(text, clock);
    if (record) known = {text, *record};
    return record;
  }

 private:
  struct Known {
    std::string text;
    Record record;
  };
  std::map<std::string, Known> known_;  // by key
};

}  // namespace wardmote::store
