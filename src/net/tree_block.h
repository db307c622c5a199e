#pragma once

#include <optional>

#include "base/result.h"
#include "runtime/file_tree.h"

namespace wardmote::net {

// As runtime::FileTree has them, on the caller's thread.
Result<std::optional<runtime::TreeBlock>> block_at(const runtime::TreePlace& at);
Result<void> remove_folder_at(const runtime::TreePlace& at);

}  // namespace wardmote::net
