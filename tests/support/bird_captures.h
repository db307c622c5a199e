#pragma once
// Conversations with real BIRDs (tests/data/bird).

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "support/bird_transcript.h"
#include "support/test_data.h"

namespace wardmote::testing {

inline std::vector<BirdExchange> bird_exchanges_of(std::string_view capture) {
  const std::filesystem::path path = std::filesystem::path(WARDMOTE_TEST_DATA) / "bird" / capture;
  std::ifstream file(path, std::ios::binary);
  check(file.is_open(), "no capture " + path.string());
  return bird_exchanges_in(std::string(std::istreambuf_iterator<char>(file), {}), capture);
}

/// Every exchange of every capture.
inline std::vector<BirdExchange> all_bird_exchanges() {
  std::vector<BirdExchange> all;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(WARDMOTE_TEST_DATA) / "bird")) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("bird")) continue;
    for (BirdExchange& exchange : bird_exchanges_of(name)) all.push_back(std::move(exchange));
  }
  return all;
}

/// The reply to the first such command in a capture.
inline std::string bird_reply(std::string_view capture, std::string_view command) {
  for (BirdExchange& exchange : bird_exchanges_of(capture)) {
    if (exchange.command == command) return std::move(exchange.reply);
  }
  die("no such command in the capture");
}

}  // namespace wardmote::testing
