#pragma once
// Conversations with BIRDs as text: `>> ` was sent, `<< ` came back.

#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"

namespace wardmote::testing {

/// A command and the bytes of its reply.
struct BirdExchange {
  std::string capture;
  std::string command;  ///< empty: the greeting
  std::string reply;
};

/// What a transcript holds; an exchange that got no whole reply is left out.
inline std::vector<BirdExchange> bird_exchanges_in(std::string_view transcript,
                                                   std::string_view name) {
  std::vector<BirdExchange> exchanges;
  for (std::string_view rest = transcript; !rest.empty();) {
    std::string_view line = take_until(rest, '\n');
    if (consume_prefix(line, ">> ")) {
      exchanges.push_back({std::string(name), std::string(line), {}});
    } else if (consume_prefix(line, "<< ")) {
      if (line.starts_with('[')) {
        if (!exchanges.empty()) exchanges.pop_back();
        continue;
      }
      if (exchanges.empty()) exchanges.push_back({std::string(name), {}, {}});
      exchanges.back().reply.append(line).append("\n");
    }
  }
  return exchanges;
}

}  // namespace wardmote::testing
