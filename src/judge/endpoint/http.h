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
  std::string url;  ///< the URL that answered, after redirects
  std::size_t redirects = 0;
  Duration connect_time{};  ///< zero on a kept connection
  Duration first_byte{};    ///< from the beginning of the probe to the answer's header
  /// the beginning of the body, as far as it was read; may contain anything
  std::string body;
  std::optional<bool> body_matches;  ///< only when the policy asks for a body text
  std::optional<std::string>
      /// the target of a redirect that was not followed, and why if that is not obvious
      refused_redirect;
  bool kept = false;  ///< on a connection that was open before this probe
};

/// From and to, both included.
struct StatusRange {
  int first = 200;
  int last = 399;
  friend bool operator==(const StatusRange&, const StatusRange&) = default;
};

struct HttpPolicy {
  std::vector<StatusRange> statuses{{200, 399}};
  std::string body;  ///< a text that the body must contain; empty: any body
};

/// Pure.
Judgement judge_http(const HttpFacts& facts, const HttpPolicy& policy);

}  // namespace wardmote::judge
