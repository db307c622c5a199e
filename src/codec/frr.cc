#include "codec/frr.h"

#include <algorithm>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text.h"

namespace wardmote::codec {
namespace {

namespace json = boost::json;

constexpr std::size_t kRoom = 4096;
constexpr std::size_t kEnd = 4;  ///< three zero bytes and the status
constexpr std::size_t kMaxPeers = 8192;
constexpr std::size_t kQuoted = 120;

std::string text_of(const json::object& object, std::string_view name) {
  const json::value* const value = object.if_contains(name);
  if (value == nullptr || !value->is_string()) return {};
  return std::string(value->get_string());
}

template <class Number>
std::optional<Number> number_of(const json::object& object, std::string_view name) noexcept {
  const json::value* const value = object.if_contains(name);
  if (value == nullptr) return std::nullopt;
  boost::system::error_code error;
  const auto number = value->to_number<Number>(error);
  if (error) return std::nullopt;
  return number;
}

Result<json::object> answer_object(std::string_view text) {
  text = trim(text);
  if (text.starts_with('%')) return fail(Errc::kRejected, "{}", escape_control(text, kQuoted));
  boost::system::error_code error;
  json::parse_options options;
  options.max_depth = 16;
  json::value value = json::parse(text, error, {}, options);
  if (error || !value.is_object()) {
    return fail(Errc::kProtocol, "no JSON object: '{}'", escape_control(text, kQuoted));
  }
  return std::move(value.get_object());
}

FrrPeer read_peer(std::string_view address, std::string_view family, const json::object& object) {
  FrrPeer peer;
  peer.address = address;
  peer.family = family;
  peer.remote_as = number_of<std::uint32_t>(object, "remoteAs");
  peer.local_as = number_of<std::uint32_t>(object, "localAs");
  peer.state = text_of(object, "state");
  peer.peer_state = text_of(object, "peerState");
  peer.received = number_of<std::uint64_t>(object, "pfxRcd");
  peer.sent = number_of<std::uint64_t>(object, "pfxSnt");
  peer.up_ms = number_of<std::uint64_t>(object, "peerUptimeMsec");
  if (peer.up_ms == 0U) peer.up_ms.reset();
  peer.dropped = number_of<std::uint64_t>(object, "connectionsDropped");
  return peer;
}

/// Calls `take(address, object)` for each peer of each family.
template <class Take>
Result<void> for_each_peer(const json::object& whole, bool only_failed, FrrSummary& summary,
                           std::size_t& count, Take&& take) {
  for (const auto& [family, value] : whole) {
    const json::object* const body = value.if_object();
    const json::value* const peers = body == nullptr ? nullptr : body->if_contains("peers");
    if (peers == nullptr || !peers->is_object()) {
      ++summary.not_understood;
      continue;
    }
    const json::object& listed = peers->get_object();
    const auto claimed = number_of<std::uint64_t>(*body, "displayedPeers");
    // The list of failed peers counts the peers of all kinds.
    if (claimed && *claimed > listed.size() && !only_failed) {
      return fail(Errc::kProtocol, "{}: {} peers are said to be listed, and {} are",
                  std::string_view(family), *claimed, listed.size());
    }
    if (summary.router_id.empty()) summary.router_id = text_of(*body, "routerId");
    for (const auto& [address, peer] : listed) {
      if (++count > kMaxPeers) return fail(Errc::kLimit, "more than {} peers", kMaxPeers);
      if (peer.is_object()) {
        take(std::string_view(address), std::string_view(family), peer.get_object());
      } else {
        ++summary.not_understood;
      }
    }
  }
  return {};
}

/// Calls `take(vrf, address, family, object)` for each peer of each VRF.
template <class Take>
Result<void> for_each_vrf(const json::object& whole, bool all_vrfs, bool only_failed,
                          FrrSummary& summary, Take&& take) {
  std::size_t count = 0;
  const auto families = [&](std::string_view vrf, const json::object& below) {
    return for_each_peer(below, only_failed, summary, count,
                         [&](std::string_view address, std::string_view family,
                             const json::object& peer) { take(vrf, address, family, peer); });
  };
  if (!all_vrfs) return families("", whole);
  for (const auto& [vrf, value] : whole) {
    const json::object* const below = value.if_object();
    if (below == nullptr) {
      ++summary.not_understood;
      continue;
    }
    const Result<void> read = families(std::string_view(vrf), *below);
    if (!read) return with_context(read, "vrf {}", escape_control(std::string_view(vrf), 64));
  }
  return {};
}

}  // namespace

std::span<char> VtyReader::room() {
  if (buffer_.size() < end_ + kRoom) buffer_.resize(std::max(2 * buffer_.size(), end_ + kRoom));
  return std::span(buffer_).subspan(end_);
}

Result<std::optional<VtyReply>> VtyReader::next() {
  const std::string_view held(buffer_.data(), end_);
  const std::size_t zero = held.find('\0', scan_);
  scan_ = std::min(zero, end_);
  if (scan_ > cap_) return fail(Errc::kLimit, "a reply of more than {} bytes", cap_);
  if (end_ - scan_ < kEnd) return std::nullopt;
  if (held[scan_ + 1] != '\0' || held[scan_ + 2] != '\0')
    return fail(Errc::kProtocol, "a zero byte in the text of a reply");
  VtyReply reply{static_cast<std::uint8_t>(held[scan_ + 3]), std::string(held.substr(0, scan_))};
  const std::size_t used = scan_ + kEnd;
  std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(used),
            buffer_.begin() + static_cast<std::ptrdiff_t>(end_), buffer_.begin());
  end_ -= used;
  scan_ = 0;
  return reply;
}

Result<FrrSummary> parse_frr_summary(std::string_view text, bool all_vrfs) {
  const Result<json::object> whole = answer_object(text);
  if (!whole) return std::unexpected(whole.error());
  if (all_vrfs && whole->empty()) return fail(Errc::kRejected, "no VRF has a BGP instance");
  FrrSummary summary;
  const Result<void> read =
      for_each_vrf(*whole, all_vrfs, false, summary,
                   [&](std::string_view vrf, std::string_view address, std::string_view family,
                       const json::object& peer) {
                     summary.peers.push_back(read_peer(address, family, peer));
                     summary.peers.back().vrf = vrf;
                   });
  if (!read) return std::unexpected(read.error());
  return summary;
}

Result<std::vector<FrrReset>> parse_frr_resets(std::string_view text, bool all_vrfs) {
  const Result<json::object> whole = answer_object(text);
  if (!whole) return std::unexpected(whole.error());
  FrrSummary ignored;
  std::vector<FrrReset> resets;
  const Result<void> read =
      for_each_vrf(*whole, all_vrfs, true, ignored,
                   [&](std::string_view vrf, std::string_view address, std::string_view,
                       const json::object& peer) {
                     std::string why = text_of(peer, "lastResetDueTo");
                     if (!why.empty())
                       resets.push_back({std::string(vrf), std::string(address), std::move(why)});
                   });
  if (!read) return std::unexpected(read.error());
  return resets;
}

}  // namespace wardmote::codec
