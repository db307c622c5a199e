#include "config/import/format.h"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>

#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "config/import/blackbox.h"
#include "config/import/masakari.h"
#include "config/import/monit.h"
#include "config/import/nagios.h"
#include "config/import/plunger.h"

namespace wardmote::config {
namespace {

Result<Imported> import_one_masakari(std::span<const ForeignFile> files) {
  if (files.size() != 1)
    return fail(Errc::kInvalid, "{} files, and Masakari's monitors read one", files.size());
  return import_masakari(files.front().text);
}

constexpr auto kFormats = std::to_array<ImportFormat>({
    {"masakari", "masakarimonitors.conf of OpenStack Masakari's monitors", is_masakari,
     import_one_masakari},
    {"blackbox",
     "blackbox.yml of Prometheus' blackbox_exporter, with the prometheus.yml of its jobs",
     is_blackbox, import_blackbox},
    {"plunger",
     "Deployments of the KubeOVN plunger and of ovn-central, or the plunger's command line",
     is_plunger, import_plunger},
    {"nagios", "object files of Nagios or Icinga 1, with resource.cfg", is_nagios, import_nagios},
    {"monit", "control files of Monit", is_monit, import_monit},
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

Result<Imported> import_files(std::span<const ForeignFile> files) {
  const ImportFormat* format = nullptr;
  const ForeignFile* first = nullptr;
  for (const ForeignFile& file : files) {
    const ImportFormat* const one = import_format_of(file.text);
    if (one == nullptr) continue;
    if (format != nullptr && one != format) {
      return fail(Errc::kInvalid, "{} is {}, and {} is {}: import them one after the other",
                  escape_control(first->name), format->what, escape_control(file.name), one->what);
    }
    format = one;
    first = &file;
  }
  if (format != nullptr) return format->translate(files);
  std::string known;
  for (const ImportFormat& one : kFormats) known += fmt::format("\n  {}", one.what);
  return fail(Errc::kInvalid, "not a file that can be imported. These can:{}", known);
}

}  // namespace wardmote::config
