#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "judge/judgement.h"

namespace wardmote::judge {

/// What a name server answered to one question.
struct DnsFacts {
  std::string name;
  std::string type;   ///< `A`, `AAAA`, `SRV`, `TXT`, …
  std::string rcode;  ///< `NOERROR`, `NXDOMAIN`, …, or its number
  bool authoritative = false;
  std::vector<std::string> answers;  ///< of the type, sorted: `10.0.0.1`, `0 5 6643 ctl-1.example`
  std::optional<std::uint32_t> least_ttl;  ///< seconds, the lowest of the answers
  bool over_tcp = false;                   ///< the answer did not fit into a datagram
  std::size_t tries = 1;                   ///< datagrams sent
  Duration answer_time{};
};

struct DnsPolicy {
  std::string rcode = "NOERROR";
  std::vector<std::string> expect;  ///< each must be among the answers
  bool only_expected = false;       ///< and the answers contain nothing else
  std::size_t min_answers = 1;      ///< with NOERROR
  std::uint32_t min_ttl = 0;        ///< seconds; a lower one is a warning
};

/// Pure.
Judgement judge_dns(const DnsFacts& facts, const DnsPolicy& policy);

}  // namespace wardmote::judge
