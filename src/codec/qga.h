#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace wardmote::codec {

/// `guest-ping` of the QEMU guest agent protocol (qga/qapi-schema.json).
inline constexpr std::string_view kGuestPing = R"({"execute":"guest-ping"})";
/// `guest-fsfreeze-status`: answered even while file systems are frozen.
inline constexpr std::string_view kGuestFreezeStatus = R"({"execute":"guest-fsfreeze-status"})";

/// `guest-get-time`: nanoseconds since 1970.
inline constexpr std::string_view kGuestGetTime = R"({"execute":"guest-get-time"})";
/// `guest-get-fsinfo`: its mounted file systems that have a device. It does not say whether one can
/// be written.
inline constexpr std::string_view kGuestGetFsInfo = R"({"execute":"guest-get-fsinfo"})";

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

/// One entry of guest-get-fsinfo.
struct QgaFileSystem {
  std::string mountpoint;
  std::string type;
  std::uint64_t used = 0;
  std::uint64_t total = 0;  ///< what users may use of it; 0: the agent did not say (before 3.0)
  friend bool operator==(const QgaFileSystem&, const QgaFileSystem&) = default;
};

/// kProtocol: no JSON object with `return` or `error`; kLimit: too long. A byte 0xFF before it is
/// passed over (guest-sync-delimited).
Result<QgaReply> parse_qga_reply(std::string_view reply);

/// Whether file systems are frozen. kProtocol for a reply that is none, as for the two below;
/// kRejected: the agent refused.
Result<bool> parse_freeze_status(std::string_view reply);
/// Since 1970. Never negative, and not beyond the year 2262.
Result<std::chrono::nanoseconds> parse_guest_time(std::string_view reply);
/// At most 64 of them; an entry that is none is left out.
Result<std::vector<QgaFileSystem>> parse_fsinfo(std::string_view reply);

}  // namespace wardmote::codec
