#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace wardmote::judge::reconcile {

/// Whether writes of a set have to be checked by the server against the token of the newest leader.
enum class FenceWish : std::uint8_t {
  kNone,    ///< they are not
  kAuto,    ///< where the server can
  kRequire  ///< nothing is written to a server that cannot
};

/// Nothing: no such word.
std::optional<FenceWish> fence_wish(std::string_view word) noexcept;

/// Whether a server has admission policies.
enum class FenceOffer : std::uint8_t {
  kYes,
  kNo,      ///< it says that it has none
  kUnknown  ///< it did not say
};

/// What keeps an earlier leader from writing in a pass.
struct FenceReport {
  enum class Kind : std::uint8_t {
    kUnasked,  ///< the target knows no fence, or nobody looked
    kNone,     ///< the configuration says so
    kPolicy,   ///< the server checks each write
    kWait,     ///< the server cannot: the wait of a new leader, and versions
    kUnknown   ///< `why`; then nothing is written
  };
  Kind kind = Kind::kUnasked;
  std::int64_t token = 0;  ///< kPolicy: of the leader whose writes pass; 0: the fence is not up yet
  std::string why{};       ///< escaped
  friend bool operator==(const FenceReport&, const FenceReport&) = default;
};

/// `policy`, for programs; kUnasked has no word.
std::string_view to_string(FenceReport::Kind kind) noexcept;
/// For people.
std::string describe(const FenceReport& fence);

/// Whether a pass is fenced. An error: it must not write; `complaint` is why kUnknown.
Result<bool> is_to_fence(FenceWish wish, FenceOffer offer, std::string_view complaint);

/// What the parameter of the fence says.
struct FenceToken {
  bool there = false;
  std::optional<std::int64_t> value{};  ///< nothing: nobody can read it
};

/// Whether the leader with the token `own` has to raise the fence. An error: it must not write,
/// because a later leader has raised it, or because nobody can tell.
Result<bool> is_to_raise(const FenceToken& stored, std::int64_t own);

}  // namespace wardmote::judge::reconcile
