#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "runtime/task.h"

namespace wardmote::runtime {

/// A file of a tree.
struct TreeFile {
  std::string path;  ///< below the root of the tree, without a slash in front
  std::string bytes;
  friend bool operator==(const TreeFile&, const TreeFile&) = default;
};

struct TreeLimits {
  std::size_t files = 10'000;
  std::size_t file_bytes = 4 << 20;
  std::size_t all_bytes = 64 << 20;
  std::size_t depth = 16;
};

/// A file below a folder. Links may lead to `root`; below it none is followed, because whoever may
/// write there could lead us elsewhere by it.
struct TreePlace {
  std::string root;
  std::string below;
};

/// What keeps a file from being at a place: a file where a folder would be, or a folder.
struct TreeBlock {
  std::string below;  ///< where it is, below the root
  bool folder = false;
  /// Of a folder: what is in it, below the root: files, and empty folders with a slash at the end.
  /// Some of it, if that is very much.
  std::vector<std::string> inside;
};

/// Files that somebody else keeps in order: manifests that are read, files that are written. It may
/// wait for a disk. One call at a time. Thread: the core
/// loop. Production: net::LocalTree.
class FileTree {
 public:
  FileTree() = default;
  FileTree(const FileTree&) = delete;
  FileTree& operator=(const FileTree&) = delete;
  virtual ~FileTree() = default;

  /// All regular files below `root`, sorted by path; links are followed. Names that begin with a
  /// dot are left out (`.git`, and `..data` of a ConfigMap). kRejected: something below `root`
  /// changed while it was read. kMissing: there is no such folder. kInvalid: something that is
  /// neither a file nor a folder, or a link to nothing. kLimit, kDenied.
  virtual Task<Result<std::vector<TreeFile>>> read_tree(std::string root, TreeLimits limits) = 0;
  /// Nothing: there is no such file. Links are followed. kLimit over `cap` bytes, kInvalid when it
  /// is no regular file.
  virtual Task<Result<std::optional<std::string>>> read(std::string path, std::size_t cap) = 0;
  /// The same of a file that may be ours. kInvalid: a link is on the way.
  virtual Task<Result<std::optional<std::string>>> read_own(TreePlace at, std::size_t cap) = 0;
  /// The file has these bytes afterwards, and at each moment the old ones or the new ones, also
  /// after a loss of power. A folder that is missing is made. A new file has the access rights
  /// `mode`; one that was there keeps its own. kInvalid: a link is on the way.
  virtual Task<Result<void>> replace(TreePlace at, std::string bytes, int mode) = 0;
  /// The file is not there afterwards. kInvalid: it is a folder, or a link is on the way.
  virtual Task<Result<void>> remove(TreePlace at) = 0;
  /// Nothing: a file is there, or could be made. kInvalid: a link is on the way.
  virtual Task<Result<std::optional<TreeBlock>>> find_block(TreePlace at) = 0;
  /// The folder is not there afterwards. An error: something is in it. kInvalid: it is none, or a
  /// link is on the way.
  virtual Task<Result<void>> remove_folder(TreePlace at) = 0;
  /// Removes what replace() has left in the folder of `at` when its process was killed; how many
  /// files that were. Nobody else may be writing there. kInvalid: a link is on the way.
  virtual Task<Result<std::size_t>> remove_leftovers(TreePlace at) = 0;
};

}  // namespace wardmote::runtime
