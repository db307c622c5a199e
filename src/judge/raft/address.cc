#include "judge/raft/address.h"

#include <cstddef>
#include <string_view>

#include "base/text.h"

namespace wardmote::judge::raft {

std::string_view host_of(std::string_view address) noexcept {
  std::string_view host = trim(address);
  if (host.starts_with("unix:")) return host;
  if (!consume_prefix(host, "tcp:")) consume_prefix(host, "ssl:");
  if (host.starts_with('[')) {
    const std::size_t end = host.find(']');
    return end == std::string_view::npos ? host : host.substr(1, end - 1);
  }
  const std::size_t colon = host.rfind(':');
  const bool bare_v6 = colon != std::string_view::npos && host.find(':') != colon;
  return colon == std::string_view::npos || bare_v6 ? host : host.substr(0, colon);
}

}  // namespace wardmote::judge::raft
