#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "judge/host/database_host.h"
#include "judge/observation.h"
#include "observe/kinds.h"
#include "observe/probe.h"
#include "runtime/files.h"
#include "runtime/runtime.h"

namespace wardmote::observe::ovn {

/// What only the host of an OVSDB server knows: the disk of its database, the server that the file
/// belongs to, and how the server ended. The first record of the file is read once for each file: a
/// server writes it when it makes the file, and never again.
class HostProbe final : public Probe {
 public:
  struct Target {
    std::string database;  ///< the file
    std::string log;       ///< empty: not read
    std::string pid_file;  ///< empty: it is not looked whether the server runs
  };
  HostProbe(runtime::Runtime& runtime, std::string subject, Target target,
            judge::DatabaseHostPolicy policy)
      : runtime_(runtime),
        subject_(std::move(subject)),
        target_(std::move(target)),
        policy_(std::move(policy)) {}

  runtime::Task<judge::Observation> look(runtime::Deadline deadline) override;

 private:
  Result<judge::DatabaseHostFacts> see(runtime::FileInfo info);
  void read_header(const runtime::FileInfo& info);
  [[nodiscard]] std::optional<bool> runs() const;
  [[nodiscard]] std::vector<std::string> last_words() const;

  runtime::Runtime& runtime_;
  std::string subject_;
  Target target_;
  judge::DatabaseHostPolicy policy_;
  judge::SpaceTrend trend_;
  /// Of the file with this device and inode.
  std::uint64_t device_ = 0;
  std::uint64_t inode_ = 0;
  std::uint64_t size_ = 0;  ///< at the last look
  judge::DatabaseFileKind kind_ = judge::DatabaseFileKind::kUnread;
  std::string unreadable_;
  std::optional<judge::RaftHeaderFacts> header_;
};

/// Parameters of the kind `ovn_host`.
std::span<const ParamSpec> host_params() noexcept;
Result<std::unique_ptr<Probe>> make_host_probe(runtime::Runtime& runtime, std::string subject,
                                               const Params& params);

}  // namespace wardmote::observe::ovn
