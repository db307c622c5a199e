#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>

#include "judge/version_gate/admission.h"
#include "judge/version_gate/status.h"

namespace wardmote::judge::version_gate {

/// What a node saw of the status before the store was set back: emptied, or an older copy put in
/// its place. The copy's status is older than the objects, so it lets nobody in. It counts again
/// when a leader has recorded a whole pass in the new history. Kept in memory: a node that is
/// restarted knows nothing of the time before.
class StatusMemory {
 public:
  /// The keys of a gate's state, as a node sees them.
  struct Look {
    Stored stored{};
    Revision claimed = 0;       ///< the last change of the claim; 0: there is none
    std::string claim{};        ///< who claimed
    Revision revision = 0;      ///< of this view; 0: nothing was read yet
    int lists = 0;              ///< how often the view was read anew
    std::uint64_t history = 0;  ///< how often answers of the store went back
  };

  /// After each change of the view.
  void look(const Look& now);
  /// What counts besides the status that is stored; nothing: the store was not set back, or a
  /// leader has recorded a pass since.
  [[nodiscard]] const std::optional<Earlier>& earlier() const noexcept { return earlier_; }

 private:
  struct Marks {
    Revision status = 0;
    Revision claim = 0;
    std::string by;
    friend bool operator==(const Marks&, const Marks&) = default;
  };
  [[nodiscard]] bool is_set_back(const Look& now) const;
  void remember();
  void find_base(const Look& now);
  /// What the new history has made of the gate since.
  void follow(const Look& now);

  static constexpr std::size_t kMostKnown = 16;
  Look last_;
  std::deque<Marks> known_;  ///< what was seen, the last ones
  std::optional<Earlier> earlier_;
  std::optional<Marks> base_;  ///< what the new history began with; nothing: not read yet
  bool twice_ = false;         ///< it was set back again before a leader recorded a pass
};

}  // namespace wardmote::judge::version_gate
