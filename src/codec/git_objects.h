#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace wardmote::codec {

/// A file of a commit, or a folder.
struct GitFile {
  /// `100644`, `100755`; `040000` is a folder, `120000` a link, `160000` another repository
  std::string mode;
  std::string id;  ///< of its content, in hexadecimal digits
  std::string path;
};

/// Whether it is the name of an object: 40 (SHA-1) or 64 (SHA-256) lower-case hexadecimal digits.
bool is_git_id(std::string_view text) noexcept;

inline constexpr std::string_view kGitFolder = "040000";

/// What `git ls-tree -r -t -z` prints (git-ls-tree(1), OUTPUT FORMAT). kProtocol; kLimit: more than
/// `most` files, or folders.
Result<std::vector<GitFile>> parse_git_tree(std::string_view output, std::size_t most);

/// The contents of the objects `files`, of what `git cat-file --batch` prints when it is asked for
/// them in this order (git-cat-file(1), BATCH OUTPUT). kProtocol: one of them is missing, of
/// another type, or was not asked for, or has other bytes than its id says.
Result<std::vector<std::string>> parse_git_contents(std::string_view output,
                                                    std::span<const GitFile> files);

}  // namespace wardmote::codec
