#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/time.h"

namespace wardmote::codec {

/// One field of a record of virConnectGetAllDomainStats.
struct StatsField {
  std::string_view name;  ///< `cpu.time`, `block.0.rd.reqs`, `net.1.tx.pkts`
  std::uint64_t value = 0;
};

/// What matters here of such a record. Nothing where no field tells.
struct DomainStats {
  std::optional<std::uint64_t> state;
  std::optional<std::uint64_t> reason;
  std::optional<Duration> cpu;
  std::optional<std::uint64_t> disk_requests;  ///< read, written and flushed, of all disks
  std::optional<std::uint64_t> sent_packets;   ///< by the guest, through all of its interfaces
  friend bool operator==(const DomainStats&, const DomainStats&) = default;
};

DomainStats sum_domain_stats(std::span<const StatsField> fields) noexcept;

}  // namespace wardmote::codec
