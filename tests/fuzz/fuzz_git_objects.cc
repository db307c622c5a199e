#include <cstddef>
#include <cstdint>
#include <string>

#include "codec/git_objects.h"
#include "fuzz/fuzz_check.h"

using namespace wardmote::codec;

// A tree, and after its last NUL the contents of its files.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kMost = 16;
  const auto text = wardmote::fuzz::text(data, size);
  const std::size_t end = text.rfind('\0') + 1;
  const auto files = parse_git_tree(text.substr(0, end), kMost);
  if (!files) return 0;
  FUZZ_CHECK(files->size() <= kMost);
  for (const GitFile& file : *files) FUZZ_CHECK(is_git_id(file.id) && !file.path.empty());
  const auto contents = parse_git_contents(text.substr(end), *files);
  if (!contents) return 0;
  FUZZ_CHECK(contents->size() == files->size());
  std::size_t all = 0;
  for (const std::string& content : *contents) all += content.size();
  FUZZ_CHECK(all <= size);
  return 0;
}
