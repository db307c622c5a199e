#pragma once

#include <memory>
#include <string>
#include <vector>

#include "act/reconcile/options.h"
#include "base/result.h"
#include "runtime/deadline.h"
#include "runtime/file_tree.h"
#include "runtime/http_client.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::act::reconcile {

/// What should be there, all of one moment.
struct SourceFiles {
  std::vector<runtime::TreeFile> files;
  std::string revision;  ///< which state that is: `commit 5e1f…`; empty: it has no name
};

/// Where a set is written down. One call at a time. Thread: the core loop.
class Source {
 public:
  Source() = default;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  virtual ~Source() = default;

  /// An error: nobody knows what should be there, so nothing may be changed. A source that is gone
  /// is one, and never an empty set.
  virtual runtime::Task<Result<SourceFiles>> read(runtime::Deadline deadline) = 0;
  /// `/etc/wardmote/manifests`, for people, escaped.
  [[nodiscard]] virtual std::string describe() const = 0;
};

/// `files` and `http` outlive it. `http` is asked for a ConfigMap alone, and may else be null.
std::unique_ptr<Source> make_source(runtime::Runtime& runtime, runtime::FileTree& files,
                                    runtime::HttpClient* http, SourceOptions options);

}  // namespace wardmote::act::reconcile
