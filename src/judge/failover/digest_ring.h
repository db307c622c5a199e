#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace wardmote::judge::failover {

/// The content of a database in 128 bits, as the codec sums it up.
struct ContentHash {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  friend bool operator==(const ContentHash&, const ContentHash&) = default;
};

/// What a copy had after each of its last commits. Who finds the content of another copy here has
/// had it too, and is no less far.
class DigestRing {
 public:
  static constexpr std::size_t kLength = 4096;

  /// After a commit. The same content as the last is no commit.
  void push(const ContentHash& content);
  /// The latest place of this content: a database may return to what it was.
  [[nodiscard]] std::optional<std::uint64_t> find(const ContentHash& content) const noexcept;
  /// The number of the last commit; 0 before the first.
  [[nodiscard]] std::uint64_t last() const noexcept { return next_ - 1; }
  /// The newest contents, at most so many, the newest last.
  [[nodiscard]] std::vector<ContentHash> newest(std::size_t most) const;
  /// The copy was replaced: what it was before says nothing of it. The numbers go on.
  void forget() noexcept { contents_.clear(); }

 private:
  std::uint64_t next_ = 1;
  std::deque<ContentHash> contents_;
};

}  // namespace wardmote::judge::failover
