#include "config/import/format.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "config/import/masakari.h"

namespace wardmote::config {
namespace {

constexpr auto kFormats = std::to_array<ImportFormat>({
    {"masakari", "masakarimonitors.conf of OpenStack Masakari's monitors", is_masakari,
     import_masakari},
});

}  // namespace

std::span<const ImportFormat> import_formats() noexcept {
  return kFormats;
}

const ImportFormat* import_format_of(std::string_view text) {
  const auto* const found = std::ranges::find_if(
      kFormats, [text](const ImportFormat& format) { return format.recognises(text); });
  return found == kFormats.end() ? nullptr : found;
}

}  // namespace wardmote::config
