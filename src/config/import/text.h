#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wardmote::config {

/// ASCII letters in lower case.
std::string lower(std::string_view text);
/// The words between white space.
std::vector<std::string_view> words_of(std::string_view text);
/// The only text that an unanchored regular expression matches somewhere; nothing when it matches
/// several. `\.` is a dot.
std::optional<std::string> literal_of(std::string_view expression);
/// `1m30s`, `500ms`, `2d` of Prometheus and Go; also `1.5s`.
std::optional<std::chrono::milliseconds> foreign_duration(std::string_view text);
/// `90s`, `1500ms`: as a configuration of the agent spells it.
std::string spell(std::chrono::milliseconds duration);
/// `host:port`, with brackets around an IPv6 address.
std::string host_and_port(std::string_view host, std::string_view port);

}  // namespace wardmote::config
