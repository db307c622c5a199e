#include "cli/evidence_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/result.h"
#include "base/text.h"
#include "store/evidence.h"

namespace wardmote::cli {

EvidenceWriter::~EvidenceWriter() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<void> EvidenceWriter::begin(const std::string& path, const store::EvidenceHead& head) {
  path_ = path;
  descriptor_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (descriptor_ < 0)
    return fail(Errc::kInvalid, "{}: {}", path_, std::generic_category().message(errno));
  return write(store::encode(head));
}

Result<void> EvidenceWriter::add(const store::EvidenceLook& look) {
  if (descriptor_ < 0) return {};
  return write(store::encode(look));
}

Result<void> EvidenceWriter::write(std::string line) const {
  line += '\n';
  std::string_view rest = line;
  while (!rest.empty()) {
    const ssize_t written = ::write(descriptor_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0)
      return fail(Errc::kInternal, "{}: {}", path_, std::generic_category().message(errno));
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

Result<Evidence> read_evidence(std::string_view text) {
  store::EvidenceReader reader;
  Evidence evidence;
  std::size_t number = 0;
  while (text.contains('\n')) {
    const std::string_view line = take_until(text, '\n');
    ++number;
    if (number == 1) {
      Result<store::EvidenceHead> head = reader.head(line);
      if (!head) return with_context(head, "line 1");
      evidence.head = *std::move(head);
      continue;
    }
    Result<store::EvidenceLook> look = reader.look(line);
    if (!look) return with_context(look, "line {}", number);
    evidence.looks.push_back(*std::move(look));
  }
  if (number == 0) return fail(Errc::kProtocol, "no whole line");
  if (evidence.looks.empty()) return fail(Errc::kProtocol, "a head and no look");
  return evidence;
}

}  // namespace wardmote::cli
