#include "config/time_zone.h"

#include <cctz/time_zone.h>

#include <chrono>
#include <string>
#include <string_view>

#include "base/format.h"
#include "base/result.h"
#include "base/time.h"
#include "base/time_zone.h"

namespace wardmote::config {
namespace {

using Moment = cctz::time_point<cctz::seconds>;

constexpr Moment kFrom = std::chrono::sys_days(std::chrono::January / 1 / 2020);
constexpr Moment kTo = std::chrono::sys_days(std::chrono::January / 1 / 2100);

/// Others are paths to the library, and `localtime` is whatever the host is set to.
bool is_name(std::string_view name) {
  constexpr std::string_view kLetters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-_/";
  return !name.empty() && name.find_first_not_of(kLetters) == std::string_view::npos &&
         !name.starts_with('/') && name != "localtime";
}

}  // namespace

Result<TimeZone> load_time_zone(std::string_view name) {
  cctz::time_zone known;
  if (!is_name(name) || !cctz::load_time_zone(std::string(name), &known)) {
    return fail(Errc::kMissing, "this host knows no such time zone");
  }
  TimeZone zone{.name = std::string(name),
                .ahead = std::chrono::seconds(known.lookup(kFrom).offset),
                .changes = {}};
  cctz::time_zone::civil_transition change;
  for (Moment at = kFrom; known.next_transition(at, &change);) {
    at = known.lookup(change.to).trans;
    if (at >= kTo) break;
    zone.changes.push_back({WallTime(at), std::chrono::seconds(known.lookup(at).offset)});
  }
  return zone;
}

}  // namespace wardmote::config
