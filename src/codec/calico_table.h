#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wardmote::codec {

/// Cuts lines as Go's bufio.Scanner does: up to 64 KiB; the last line needs no end.
class GoLines {
 public:
  void add(std::string_view bytes) { held_.append(bytes); }
  /// Call when the peer has closed: the remaining bytes are the last line.
  void end() noexcept { ended_ = true; }
  [[nodiscard]] std::optional<std::string> next();
  /// A line is over the limit; next() returns no more lines.
  [[nodiscard]] bool too_long() const noexcept { return too_long_; }

 private:
  std::string held_;
  bool ended_ = false;
  bool too_long_ = false;
};

/// A row as Calico reads it.
struct CalicoPeer {
  std::string ip;
  std::string bgp_state;
  friend bool operator==(const CalicoPeer&, const CalicoPeer&) = default;
};

/// Reads the replies of BIRD exactly as Calico's node/pkg/health does, with its faults: any line
/// that begins with `0000` is the end, and so is the end of the stream; rows with fewer than six
/// words, and of other names, are ignored; the sixth word is the state; BIRD 2's headings are
/// unknown. It exists so that a node can be compared with its earlier answers; nothing else uses
/// it.
class CalicoTable {
 public:
  enum class Step : std::uint8_t { kMore, kDone, kError, kPanic };
  enum class Query : std::uint8_t { kPeers, kRestart };

  CalicoTable(Query query, bool ipv6) noexcept : query_(query), ipv6_(ipv6) {}

  Step read(std::string_view line);

  [[nodiscard]] const std::vector<CalicoPeer>& peers() const noexcept { return peers_; }
  [[nodiscard]] bool restarting() const noexcept { return restarting_; }
  /// After kError and kPanic: the text of Calico's newest release, in which the quoted line is
  /// escaped and cut.
  [[nodiscard]] const std::string& error() const noexcept { return error_; }

 private:
  Step read_peers(std::string_view line);
  Step read_restart(std::string_view line);
  Step unexpected(std::string_view line);
  Step panic();
  void read_row(std::string_view row);

  Query query_;
  bool ipv6_;
  std::vector<CalicoPeer> peers_;
  bool restarting_ = false;
  std::string error_;
};

}  // namespace wardmote::codec
