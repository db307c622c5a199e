#include "judge/raft/address.h"

#include <cstddef>
#include <string_view>

#include "base/text.h"

namespace wardmote::judge::raft {
namespace {

std::string_view without_scheme(std::string_view address) noexcept {
  std::string_view place = trim(address);
  if (!consume_prefix(place, "tcp:")) consume_prefix(place, "ssl:");
  return place;
}

}  // namespace

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

bool means(std::string_view hint, std::string_view address) noexcept {
  if (same_text(hint, address)) return true;
  if (hint.starts_with("unix:") || address.starts_with("unix:")) return false;
  const std::string_view wanted = without_scheme(hint);
  const std::string_view place = without_scheme(address);
  return !wanted.empty() && (wanted == place || wanted == host_of(address));
}

}  // namespace wardmote::judge::raft
