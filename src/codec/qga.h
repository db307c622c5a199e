#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace wardmote::codec {

/// `guest-ping` of the QEMU guest agent protocol (qga/qapi-schema.json).
inline constexpr std::string_view kGuestPing = R"({"execute":"guest-ping"})";
/// `guest-fsfreeze-status`: answered even while file systems are frozen.
inline constexpr std::string_view kGuestFreezeStatus = R"({"execute":"guest-fsfreeze-status"})";

/// The longest reply that is read.
inline constexpr std::size_t kLongestQgaReply = 1 << 20;

/// One reply of a guest agent, as libvirt returns it: what it stands for is not looked at.
struct QgaReply {
  /// The agent refused: `CommandNotFound`, `CommandDisabled`, `GenericError`. That is an answer all
  /// the same: whoever refuses is alive.
  struct Refusal {
    std::string error_class;
    std::string text;
    friend bool operator==(const Refusal&, const Refusal&) = default;
  };

  std::optional<Refusal> refusal;
  /// The returned value when it is a single text, as that of guest-fsfreeze-status.
  std::optional<std::string> text;
  std::optional<std::int64_t> number;  ///< the same for a number, as that of guest-sync
  friend bool operator==(const QgaReply&, const QgaReply&) = default;
};

/// kProtocol: no JSON object with `return` or `error`; kLimit: too long. A byte 0xFF before it is
/// passed over (guest-sync-delimited).
Result<QgaReply> parse_qga_reply(std::string_view reply);

}  // namespace wardmote::codec
