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

// What was seen of one raft cluster, written down so that it can be judged again: lines of JSON, a
// head and then a look each. Nothing that the judge sees is left out, rounded or escaped, so that
// the same evidence gives the same verdict. docs/evidence-files.md describes it.

/// No more is read of a line, and no more of a file.
inline constexpr std::size_t kEvidenceLineBytes = 16 << 20;
inline constexpr std::size_t kEvidenceFileBytes = 256 << 20;

struct EvidenceHead {
  std::string cluster;
  judge::raft::Expectation expectation;
  Duration every{};
  friend bool operator==(const EvidenceHead&, const EvidenceHead&) = default;
};

/// All opinions of one moment, and when they were judged.
struct EvidenceLook {
  TimePoint judged;
  WallTime at;  ///< the same moment, for people
  std::vector<judge::raft::Opinion> opinions;
};

/// One line, without its end.
std::string encode(const EvidenceHead& head);
std::string encode(const EvidenceLook& look);

/// Reads evidence line by line, the head first. Total: a line that is not what encode() writes is
/// an error that says which key is wrong, and times must not run backwards.
class EvidenceReader {
 public:
  /// kLimit, kProtocol (no evidence, or not of this version).
  Result<EvidenceHead> head(std::string_view line);
  /// kLimit, kProtocol. After head().
  Result<EvidenceLook> look(std::string_view line);

 private:
  std::vector<std::string> members_;
  TimePoint last_;
};

}  // namespace wardmote::store
