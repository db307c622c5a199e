#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "judge/reconcile/fence.h"

namespace wardmote::act::reconcile {

/// Where the credentials of a kube-apiserver are.
struct KubeLoginOptions {
  std::string kubeconfig;    ///< a file; empty: those of the pod in which this runs
  std::string context{};     ///< in the kubeconfig; empty: its current-context
  std::string pod_server{};  ///< the server of the pod's cluster; empty: this is no pod
  friend bool operator==(const KubeLoginOptions&, const KubeLoginOptions&) = default;
};

/// Which objects of a server belong to us, and how they are kept.
struct KubeSetOptions {
  KubeLoginOptions login;
  std::string set;    ///< its name: the value of the label of its members
  std::string space;  ///< of objects that name no namespace; empty: the login's, or `default`
  std::string inventory_space = "kube-system";
  int prune_limit = 50;  ///< per cent of the members; 0: none, 100: all
  bool adopt = false;    ///< take over objects that belong to no set, whatever their policy says
  /// Of a pass with a token.
  judge::reconcile::FenceWish fence = judge::reconcile::FenceWish::kNone;
  friend bool operator==(const KubeSetOptions&, const KubeSetOptions&) = default;
};

/// Whether a set may have this name: it is in a label, and in the name of a ConfigMap.
bool is_set_name(std::string_view name);

/// All files below it.
struct FolderOptions {
  std::string folder;  ///< absolute
  friend bool operator==(const FolderOptions&, const FolderOptions&) = default;
};

struct GitOptions {
  std::string work_tree;     ///< absolute; a bare repository is as good
  std::string ref = "HEAD";  ///< is_git_ref()
  std::string path{};        ///< of a folder, from the root of the repository; empty: all of it
  friend bool operator==(const GitOptions&, const GitOptions&) = default;
};

/// Whether `git` takes the text for a branch, a tag or a commit, and for nothing else.
bool is_git_ref(std::string_view text);

struct ConfigMapOptions {
  KubeLoginOptions login;
  std::string space;
  std::string name;
  friend bool operator==(const ConfigMapOptions&, const ConfigMapOptions&) = default;
};

/// Where a set is written down.
using SourceOptions = std::variant<FolderOptions, GitOptions, ConfigMapOptions>;

struct FilesOptions {
  std::string folder;    ///< absolute: where the files are kept
  std::string record;    ///< absolute: the file that says which of them are ours
  int mode = 0644;       ///< access rights of new files
  bool adopt = false;    ///< take over files that are there, and that nobody wrote for us
  int prune_limit = 50;  ///< per cent of our files; 0: none, 100: all
  std::vector<std::string> on_change;  ///< argv; empty: nothing is run
  friend bool operator==(const FilesOptions&, const FilesOptions&) = default;
};

}  // namespace wardmote::act::reconcile
