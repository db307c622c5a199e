#include "config/kept_folders.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <variant>

#include "act/reconcile/options.h"
#include "config/version_gates.h"

namespace wardmote::config {
namespace {

std::filesystem::path resolved(const std::string& path) {
  std::error_code error;
  std::filesystem::path found = std::filesystem::weakly_canonical(path, error);
  if (error) found = std::filesystem::path(path).lexically_normal();
  // What is normal may end with a slash: an empty last part.
  if (!found.has_filename() && found.has_relative_path()) found = found.parent_path();
  return found;
}

/// `inner` is `outer`, or below it.
bool is_in(const std::string& inner, const std::string& outer) {
  const std::filesystem::path below = resolved(inner);
  const std::filesystem::path above = resolved(outer);
  return std::mismatch(above.begin(), above.end(), below.begin(), below.end()).first == above.end();
}

}  // namespace

bool overlap(const std::string& a, const std::string& b) {
  return is_in(a, b) || is_in(b, a);
}

std::optional<std::string> bad_folder(const Reconcile& reconcile, const std::string& data) {
  if (!reconcile.files || reconcile.files->folder.empty()) return std::nullopt;
  const std::string& folder = reconcile.files->folder;
  const act::reconcile::FolderOptions* const source =
      reconcile.source ? std::get_if<act::reconcile::FolderOptions>(&*reconcile.source) : nullptr;
  if (source != nullptr && !source->folder.empty() && is_in(folder, source->folder))
    return "'folder' is in 'manifests': what is written there would be a source in the next pass";
  if (!data.empty() && is_in(folder, data))
    return "'folder' is in 'data', where the agent keeps its own files";
  return std::nullopt;
}

}  // namespace wardmote::config
