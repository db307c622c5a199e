#include "codec/domain_stats.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>

#include "base/text.h"
#include "base/time.h"

namespace wardmote::codec {
namespace {

/// `block.12.rd.reqs` is (block, rd.reqs); nothing for fields of another form.
std::optional<std::string_view> of_device(std::string_view name, std::string_view device) {
  if (take_until(name, '.') != device) return std::nullopt;
  if (!parse_number<unsigned>(take_until(name, '.'))) return std::nullopt;
  return name;
}

/// Stays at the largest number: what is larger was damaged on its way.
void add(std::optional<std::uint64_t>& sum, std::uint64_t value) noexcept {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t before = sum.value_or(0);
  sum = value > kMost - before ? kMost : before + value;
}

}  // namespace

DomainStats sum_domain_stats(std::span<const StatsField> fields) noexcept {
  constexpr auto kLongest = static_cast<std::uint64_t>(std::numeric_limits<Duration::rep>::max());
  DomainStats stats;
  for (const StatsField& field : fields) {
    if (field.name == "state.state") stats.state = field.value;
    if (field.name == "state.reason") stats.reason = field.value;
    if (field.name == "cpu.time" && field.value <= kLongest)
      stats.cpu = Duration(static_cast<Duration::rep>(field.value));
    if (const auto disk = of_device(field.name, "block")) {
      if (disk == "rd.reqs" || disk == "wr.reqs" || disk == "fl.reqs")
        add(stats.disk_requests, field.value);
    }
    if (of_device(field.name, "net") == "tx.pkts") add(stats.sent_packets, field.value);
  }
  return stats;
}

}  // namespace wardmote::codec
