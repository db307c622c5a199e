#include "judge/notify/muting.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "judge/notify/matcher.h"

namespace wardmote::judge::notify {

void Muting::put(Silence silence) {
  last_id_ = std::max(last_id_, silence.id);
  const auto known = std::ranges::find(silences_, silence.id, &Silence::id);
  if (known == silences_.end()) {
    silences_.push_back(std::move(silence));
  } else {
    *known = std::move(silence);
  }
}

bool Muting::remove(std::int64_t id) {
  return std::erase_if(silences_, [&](const Silence& each) { return each.id == id; }) > 0;
}

std::optional<std::string> Muting::by(const Labels& labels, WallTime now) const {
  for (const std::vector<Silence>* const some : {&silences_, &configured_}) {
    for (const Silence& silence : *some) {
      if (now < silence.from || now >= silence.until || !match(silence.match, labels)) continue;
      return "silence " + (silence.name.empty() ? std::to_string(silence.id) : silence.name);
    }
  }
  for (const Maintenance& each : maintenance_) {
    if (each.window.until(now) && match(each.match, labels)) return "maintenance " + each.name;
  }
  return std::nullopt;
}

std::optional<WallTime> Muting::until(const Labels& labels, WallTime now) const {
  std::optional<WallTime> end;
  for (const std::vector<Silence>* const some : {&silences_, &configured_}) {
    for (const Silence& silence : *some) {
      if (now < silence.from || now >= silence.until || !match(silence.match, labels)) continue;
      end = std::max(end.value_or(silence.until), silence.until);
    }
  }
  for (const Maintenance& each : maintenance_) {
    const auto over = each.window.until(now);
    if (over && match(each.match, labels)) end = std::max(end.value_or(*over), *over);
  }
  return end;
}

std::vector<std::int64_t> Muting::forget(WallTime now, Duration keep) {
  std::vector<std::int64_t> gone;
  for (const Silence& silence : silences_) {
    if (silence.until + keep <= now) gone.push_back(silence.id);
  }
  for (const std::int64_t id : gone) remove(id);
  return gone;
}

}  // namespace wardmote::judge::notify
