#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace wardmote::codec {

struct BirdLimits {
  std::size_t line_bytes = 64 << 10;
  std::size_t reply_bytes = 4 << 20;  ///< 2,000 sessions of `show protocols all` in BIRD 2
};

/// One line of a reply (nest/cli.c, BIRD 1.6 to 2.0).
struct BirdLine {
  unsigned code = 0;  ///< a continuation has the code of the line that it continues
  bool head = false;  ///< it begins with its code
  bool last = false;  ///< it ends the reply
  std::string_view text;
};

/// Cuts the bytes of BIRD's control socket into lines. Strict: a line is `NNNN-text`, `NNNN text`
/// (which alone ends a reply), a blank and text (a continuation), or `+text`, which is asynchronous
/// and skipped. Anything else, a control character included, is kProtocol. Use: read bytes into
/// room(), call received(), then call next() until it has no more. After an error the position in
/// the stream is unknown, and the stream must be dropped.
class BirdReader {
 public:
  explicit BirdReader(BirdLimits limits = {}) noexcept : limits_(limits) {}

  /// The buffer for the next bytes; never empty. Invalidates the views that next() gave.
  std::span<char> room();
  void received(std::size_t bytes) noexcept { end_ += bytes; }
  /// The next line, or nothing until more bytes come. kProtocol; kLimit for a line or a reply over
  /// its cap.
  Result<std::optional<BirdLine>> next();
  /// Whether a reply has begun and not ended.
  [[nodiscard]] bool partial() const noexcept { return begin_ != end_ || lines_ != 0; }
  /// Number of complete lines of the present reply.
  [[nodiscard]] std::size_t lines() const noexcept { return lines_; }

 private:
  Result<std::optional<BirdLine>> read_line(std::string_view text);

  BirdLimits limits_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;  ///< of the present line
  std::size_t end_ = 0;    ///< of the received bytes
  std::size_t lines_ = 0;
  std::size_t reply_bytes_ = 0;
  std::optional<unsigned> code_;  ///< code of the last line that had one in this reply
};

/// Lines that were not understood: kept up to a limit, all counted.
struct BirdUnknownLines {
  std::vector<std::string> kept;
  std::size_t count = 0;

  void add(std::string_view line);
  friend bool operator==(const BirdUnknownLines&, const BirdUnknownLines&) = default;
};

/// `238.163/240` seconds: what is left of a timer, and its length if it is printed.
struct BirdTimer {
  std::uint64_t left_ms = 0;
  std::optional<std::uint64_t> total_ms;
  friend bool operator==(const BirdTimer&, const BirdTimer&) = default;
};

/// The block `0024`.
struct BirdRestart {
  std::optional<std::uint64_t> waiting_for;  ///< protocols (1.6) or channels (2)
  std::optional<BirdTimer> timer;
  friend bool operator==(const BirdRestart&, const BirdRestart&) = default;
};

enum class BirdCondition : std::uint8_t { kUnknown, kRunning, kReconfiguring, kShuttingDown };

/// The reply to `show status`. Times are as printed: `2026-11-20 07:56:39.291`, in the local time
/// of the daemon.
struct BirdStatus {
  std::string version;  ///< `1.6.8`, `v0.3.3+birdv1.6.8`
  std::string router_id;
  std::string hostname;  ///< BIRD 2
  std::string server_time;
  std::string last_reboot;
  std::string last_reconfiguration;
  std::optional<BirdRestart> restart;
  BirdCondition condition = BirdCondition::kUnknown;
  BirdUnknownLines unknown;
  friend bool operator==(const BirdStatus&, const BirdStatus&) = default;
};

struct BirdRoutes {
  std::uint64_t imported = 0;
  std::uint64_t filtered = 0;
  std::uint64_t exported = 0;
  std::uint64_t preferred = 0;
  friend bool operator==(const BirdRoutes&, const BirdRoutes&) = default;
};

/// One family of a protocol. BIRD 1.6 has one without a name and a state.
struct BirdChannel {
  std::string name;   ///< `ipv4`
  std::string state;  ///< `UP`, `DOWN`, …
  std::string table;
  std::optional<BirdRoutes> routes;
  std::string restart;  ///< the words after `GR recovery:`
  friend bool operator==(const BirdChannel&, const BirdChannel&) = default;
};

/// A row of `show protocols`, with what `show protocols all` adds below it.
struct BirdProtocol {
  std::string name;
  std::string proto;  ///< `BGP`, `Kernel`, …
  std::string table;  ///< `---` when it has several channels
  std::string state;  ///< `up`, `start`, `wait`, `down`, …
  std::string since;  ///< one word, or two with `timeformat protocol iso long`
  std::string info;   ///< without white space around it; empty for a protocol that is disabled

  // Only of `show protocols all`.
  std::string description;
  std::string bgp_state;
  std::string neighbor_address;
  std::optional<std::uint16_t> neighbor_port;  ///< printed when it is not 179
  std::optional<std::uint32_t> neighbor_as;
  std::optional<std::uint32_t> local_as;
  std::string source_address;
  std::optional<BirdTimer> hold;
  std::string last_error;
  bool neighbor_restarts = false;  ///< `Neighbor graceful restart active`
  std::vector<BirdChannel> channels;
  friend bool operator==(const BirdProtocol&, const BirdProtocol&) = default;
};

/// The reply to `show protocols` and `show protocols all`.
struct BirdProtocols {
  bool detailed = false;  ///< it had blocks below its rows
  std::vector<BirdProtocol> protocols;
  BirdUnknownLines unknown;
  friend bool operator==(const BirdProtocols&, const BirdProtocols&) = default;
};

/// The meaning of the last line when the daemon refused (8xxx, 9xxx): kRejected with its text;
/// kDenied for 8007. Nothing for any other line.
std::optional<Error> bird_refusal(const BirdLine& last);

/// Reads the lines of one `show status`.
class BirdStatusParser {
 public:
  /// kProtocol for lines that do not belong to a status; kRejected, kDenied.
  Result<void> read(const BirdLine& line);
  /// Call after the last line. kProtocol when the version or the closing line is missing.
  Result<BirdStatus> take();

 private:
  void read_clock(const BirdLine& line);
  void read_restart(const BirdLine& line);

  BirdStatus status_;
  bool ended_ = false;
};

/// Reads the lines of one `show protocols`, with or without `all`.
class BirdProtocolsParser {
 public:
  /// kProtocol for a row before the headings, a malformed row, other headings; kLimit over 8192
  /// protocols; kRejected, kDenied.
  Result<void> read(const BirdLine& line);
  /// Call after the last line. kProtocol when the headings are missing.
  Result<BirdProtocols> take();

 private:
  Result<void> read_row(std::string_view text);
  void read_detail(std::string_view text);

  BirdProtocols protocols_;
  bool headed_ = false;
  bool ended_ = false;
};

/// Parses one whole reply. kProtocol when it does not end, or when something follows it.
Result<BirdStatus> parse_bird_status(std::string_view reply);
Result<BirdProtocols> parse_bird_protocols(std::string_view reply);

}  // namespace wardmote::codec
