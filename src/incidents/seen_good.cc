#include "incidents/seen_good.h"

#include <algorithm>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "base/text.h"
#include "config/config.h"
#include "incidents/record_writer.h"
#include "judge/change.h"
#include "judge/check_machine.h"
#include "judge/thing.h"
#include "runtime/task.h"
#include "store/check_record.h"

namespace wardmote::incidents {
namespace {

constexpr std::string_view kSees = "sees";
constexpr std::string_view kBlind = "blind";

}  // namespace

SeenGood::SeenGood(const config::Config& config, RecordWriter& records, const std::string& node)
    : config_(config), records_(records), prefix_(store::seen_good_prefix(node)) {}

runtime::Task<Result<void>> SeenGood::recall() {
  const auto records = co_await records_.load(prefix_);
  if (!records) co_return std::unexpected(records.error());
  for (const auto& [key, text] : *records) {
    std::string_view check = key;
    consume_prefix(check, prefix_);
    if (is_optional(check)) {
      blind_[std::string(check)] = text == kBlind;
    } else {
      records_.put(key, std::nullopt);
    }
  }
  co_return Result<void>();
}

void SeenGood::hear(const judge::Change& change) {
  if (change.of.kind != judge::ThingKind::kCheck || !is_optional(change.of.name)) return;
  const std::string& check = change.of.name;
  if (const auto* const changed = std::get_if<judge::CheckChanged>(&change.event)) {
    if (changed->to == judge::State::kHealthy) keep(check, false);
  } else if (const auto* const turned = std::get_if<judge::CheckBlind>(&change.event)) {
    if (blind_.contains(check)) keep(check, turned->blind);
  }
}

void SeenGood::forget(std::string_view check) {
  if (const auto found = blind_.find(check); found != blind_.end()) {
    records_.put(prefix_ + found->first, std::nullopt);
    blind_.erase(found);
  }
}

bool SeenGood::is_optional(std::string_view check) const {
  const auto found = std::ranges::find(config_.checks, check, &config::Check::name);
  return found != config_.checks.end() && found->schedule.optional;
}

void SeenGood::keep(const std::string& check, bool blind) {
  const auto [found, added] = blind_.try_emplace(check, blind);
  if (!added && found->second == blind) return;
  found->second = blind;
  records_.put(prefix_ + check, std::string(blind ? kBlind : kSees));
}

}  // namespace wardmote::incidents
