#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/evidence.h"

namespace wardmote::cli {

/// An evidence file that is written while one looks. What was seen up to an end in the middle can
/// be judged again.
class EvidenceWriter {
 public:
  EvidenceWriter() = default;
  EvidenceWriter(const EvidenceWriter&) = delete;
  EvidenceWriter& operator=(const EvidenceWriter&) = delete;
  ~EvidenceWriter();

  /// A new file, which only its owner reads. kInvalid says why not; one that exists is kept.
  Result<void> begin(const std::string& path, const store::EvidenceHead& head);
  /// Does nothing unless begun. kInternal: what could not be written.
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

/// All of the text of a file. Errors name the line. A last line without its end is what a recorder
/// that was killed leaves, and is left out.
Result<Evidence> read_evidence(std::string_view text);

}  // namespace wardmote::cli
