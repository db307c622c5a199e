#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "judge/judgement.h"

namespace wardmote::judge {

/// The final answer of an HTTP server.
struct HttpFacts {
  int status = 0;
  std::string url;  ///< that answered, after redirects
  std::size_t redirects = 0;
  Duration connect_time{};           ///< zero on a kept connection
  Duration first_byte{};             ///< from the begin of the look to the answer's header
  std::string body;                  ///< its begin, as far as somebody wanted it; may hold anything
  std::optional<bool> body_matches;  ///< only when a body was asked for
  std::optional<std::string>
      refused_redirect;  ///< where it wanted us to go, and why we did not if that is not plain
  bool kept = false;     ///< on a connection that was open before this look
};

/// From and to, both included.
struct StatusRange {
  int first = 200;
  int last = 399;
  friend bool operator==(const StatusRange&, const StatusRange&) = default;
};

struct HttpPolicy {
  std::vector<StatusRange> statuses{{200, 399}};
  std::string body;  ///< a text that the body must hold; empty: any
};

/// Pure.
Judgement judge_http(const HttpFacts& facts, const HttpPolicy& policy);

}  // namespace wardmote::judge
