#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "net/unique_fd.h"
#include "runtime/file_tree.h"

namespace wardmote::net {

/// The folder that holds a file below a root, and the name of the file in it.
struct OwnFolder {
  UniqueFd folder;
  std::string name;
};

/// Follows links to the root and none below it, so that nobody who may write there can lead us out
/// of it, not even between two steps. `make`: a folder that is missing is made, to outlast a loss
/// of power. kMissing: there is no such folder. kInvalid: a link is on the way, or the place has
/// `.` or `..` in it.
Result<OwnFolder> open_own_folder(const runtime::TreePlace& at, bool make);

/// All names in a folder; nothing: it cannot be read.
std::optional<std::vector<std::string>> names_in(int folder);

}  // namespace wardmote::net
