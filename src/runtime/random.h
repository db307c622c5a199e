#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace wardmote::runtime {

/// xoshiro256** of Blackman and Vigna, seeded through splitmix64: the same numbers on every
/// machine, unlike the standard distributions. Not for secrets.
class Random {
 public:
  using result_type = std::uint64_t;

  explicit Random(std::uint64_t seed) noexcept {
    for (std::uint64_t& word : state_) {
      seed += 0x9e3779b97f4a7c15;
      word = mix(seed);
    }
  }

  /// Uniform over all 64 bits.
  std::uint64_t next() noexcept {
    const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }

  /// Uniform in [0, limit); 0 when `limit` is 0. Multiplication instead of division keeps the bias
  /// below 2^-32 for every limit in use here.
  std::uint64_t below(std::uint64_t limit) noexcept {
    return static_cast<std::uint64_t>((static_cast<unsigned __int128>(next()) * limit) >> 64);
  }

  /// True once in `1 / probability` draws.
  bool chance(double probability) noexcept {
    return static_cast<double>(next() >> 11) * 0x1.0p-53 < probability;
  }

 private:
  static std::uint64_t mix(std::uint64_t z) noexcept {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  std::array<std::uint64_t, 4> state_{};
};

}  // namespace wardmote::runtime
