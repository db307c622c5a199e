#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/evidence.h"

namespace wardmote::cli {

/// An evidence file that is written during the probes. A recording that was interrupted can be
/// judged.
class EvidenceWriter {
 public:
  EvidenceWriter() = default;
  EvidenceWriter(const EvidenceWriter&) = delete;
  EvidenceWriter& operator=(const EvidenceWriter&) = delete;
  ~EvidenceWriter();

  /// Creates a new file, which only its owner may read. kInvalid says why not; an existing file is
  /// not touched.
  Result<void> begin(const std::string& path, const store::EvidenceHead& head);
  /// Does nothing unless begun. kInternal: a part could not be written.
  Result<void> add(const store::EvidenceLook& look);

 private:
  Result<void> write(std::string line) const;

  std::string path_;
  int descriptor_ = -1;
};

struct Evidence {
  store::EvidenceHead head;
  std::vector<store::EvidenceLook> looks;  ///< at least one
};

/// Reads the whole text of a file. Errors name the line. A last line without its end is left out: a
/// recorder that was killed leaves one.
Result<Evidence> read_evidence(std::string_view text);

}  // namespace wardmote::cli
