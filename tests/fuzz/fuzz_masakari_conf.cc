// Any masakarimonitors.conf: a configuration that the agent accepts, and notes that are safe to
// print and never repeat a password.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "codec/oslo_config.h"
#include "config/config.h"
#include "config/import/format.h"
#include "config/import/masakari.h"
#include "fuzz/fuzz_check.h"
#include "observe/kinds.h"

namespace {

using wardmote::config::Imported;

bool tells(const Imported& imported, std::string_view secret) {
  return std::ranges::any_of(imported.notes, [&](const std::string& note) {
    return std::string_view(note).contains(secret);
  });
}

/// Whether the notes tell the password because it is the password: with another one, the last of a
/// name counts, they do not. It may also be a piece of the notes' own words.
bool repeats_the_password(std::string_view text, const Imported& imported,
                          std::string_view secret) {
  if (!tells(imported, secret)) return false;
  const auto another =
      wardmote::config::import_masakari(std::string(text) + "\n[api]\npassword = another\n");
  return another && !tells(*another, secret);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace wardmote;
  const std::string_view text = fuzz::text(data, size);
  const auto imported = config::import_masakari(text);
  FUZZ_CHECK(imported || size > codec::kLargestOsloConfig);
  if (!imported) return 0;
  FUZZ_CHECK(config::parse_config(imported->yaml, observe::probe_kinds()).has_value());
  const auto parsed = codec::parse_oslo_config(text);
  const codec::OsloOption* const secret = codec::find_option(*parsed, "api", "password");
  for (const std::string& note : imported->notes) {
    for (const char c : note) FUZZ_CHECK(static_cast<unsigned char>(c) >= 0x20);
  }
  if (secret != nullptr && secret->value.size() > 40)
    FUZZ_CHECK(!repeats_the_password(text, *imported, secret->value));
  return 0;
}
