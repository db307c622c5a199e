// Any configuration of another program, or several: a configuration that the agent accepts, with
// probes that can be made, and notes that are safe to print; or an error of the kinds that are
// promised.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/config.h"
#include "config/import/format.h"
#include "fuzz/fuzz_check.h"
#include "net/asio_runtime.h"
#include "observe/kinds.h"

namespace {

using wardmote::config::ForeignFile;

/// A line that begins with this sign begins another file.
constexpr std::string_view kNextFile = "\n\x1c";

std::vector<ForeignFile> files_of(std::string_view text) {
  std::vector<ForeignFile> files;
  while (files.size() < 4) {
    const std::size_t end = text.find(kNextFile);
    files.push_back({"f" + std::to_string(files.size()), std::string(text.substr(0, end))});
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + kNextFile.size());
  }
  return files;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace wardmote;
  const auto files = files_of(fuzz::text(data, size));
  const auto made = config::import_files(files);
  if (!made) {
    FUZZ_CHECK(made.error().code == Errc::kLimit || made.error().code == Errc::kInvalid);
    FUZZ_CHECK(!made.error().context.starts_with("the agent would refuse"));
    return 0;
  }
  const auto config = config::parse_config(made->yaml, observe::probe_kinds());
  FUZZ_CHECK(config.has_value());
  static net::AsioRuntime runtime;  // probes are made and let go; none looks
  for (const config::Check& check : config->checks)
    FUZZ_CHECK(check.kind == nullptr || check.kind->make == nullptr ||
               check.kind->make(runtime, check.name, check.params).has_value());
  for (const std::string& note : made->notes) {
    for (const char c : note) FUZZ_CHECK(static_cast<unsigned char>(c) >= 0x20);
  }
  return 0;
}
