#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "judge/raft/assess.h"
#include "judge/raft/opinion.h"

namespace wardmote::store {

// A recording of one raft cluster that can be judged again: lines of JSON, first a head, then one
// line for each round of probes. Nothing that the judge reads is left out, rounded or escaped, so
// the same evidence gives the same verdict. docs/evidence-files.md describes the format.

/// The most bytes that are read of a line, and of a file.
inline constexpr std::size_t kEvidenceLineBytes = 16 << 20;
inline constexpr std::size_t kEvidenceFileBytes = 256 << 20;

struct EvidenceHead {
  std::string cluster;
  judge::raft::Expectation expectation;
  Duration every{};
  friend bool operator==(const EvidenceHead&, const EvidenceHead&) = default;
};

/// All opinions of one round, and when they were judged.
struct EvidenceLook {
  TimePoint judged;
  WallTime at;  ///< the same moment, for people
  std::vector<judge::raft::Opinion> opinions;
};

/// One line, without its line end.
std::string encode(const EvidenceHead& head);
std::string encode(const EvidenceLook& look);

/// Reads evidence line by line, the head first. Total: a line that encode() would not write is an
/// error that names the wrong key. Times must not run backwards.
class EvidenceReader {
 public:
  /// kLimit, kProtocol (not an evidence file, or another version).
  Result<EvidenceHead> head(std::string_view line);
  /// kLimit, kProtocol. Call after head().
  Result<EvidenceLook> look(std::string_view line);

 private:
  std::vector<std::string> members_;
  TimePoint last_;
};

}  // namespace wardmote::store
