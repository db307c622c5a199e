#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wardmote::codec {

/// Lines as Go's bufio.Scanner cuts them: up to 64 KiB, the last one also without an end.
class GoLines {
 public:
  void add(std::string_view bytes) { held_.append(bytes); }
  /// The peer has closed: what is held is the last line.
  void end() noexcept { ended_ = true; }
  [[nodiscard]] std::optional<std::string> next();
  /// A line is over its cap; next() gives no more.
  [[nodiscard]] bool too_long() const noexcept { return too_long_; }

 private:
  std::string held_;
  bool ended_ = false;
  bool too_long_ = false;
};

/// A row as Calico sees it.
struct CalicoPeer {
  std::string ip;
  std::string bgp_state;
  friend bool operator==(const CalicoPeer&, const CalicoPeer&) = default;
};

/// Reads the replies of BIRD exactly as Calico's node/pkg/health does, its faults included: any
/// line that begins with `0000` is the end, so is the end of the stream; rows of fewer than six
/// words and of other names are not seen; the sixth word is the state; BIRD 2's headings are
/// unknown. It stands here so that a node can be compared with what it answered before; nothing
/// else uses it.
class CalicoTable {
 public:
  enum class Step : std::uint8_t { kMore, kDone, kError, kPanic };
  enum class Query : std::uint8_t { kPeers, kRestart };

  CalicoTable(Query query, bool ipv6) noexcept : query_(query), ipv6_(ipv6) {}

  Step read(std::string_view line);

  [[nodiscard]] const std::vector<CalicoPeer>& peers() const noexcept { return peers_; }
  [[nodiscard]] bool restarting() const noexcept { return restarting_; }
  /// After kError and kPanic, in the words of Calico's newest release; the line that it quotes is
  /// escaped and cut here.
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
