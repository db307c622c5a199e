#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "act/reconcile/options.h"
#include "act/reconcile/target.h"
#include "base/result.h"
#include "judge/reconcile/prune.h"
#include "judge/reconcile/report.h"
#include "runtime/deadline.h"
#include "runtime/file_tree.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::act::reconcile {

/// Which files are ours: the digest of each as it was written last. The text is that of
/// sha256sum(1).
struct FileRecord {
  std::string folder;                        ///< that they are in
  std::map<std::string, std::string> files;  ///< digest by path
  bool changed = false;  ///< a file was changed, and on_change has not ended well since
  friend bool operator==(const FileRecord&, const FileRecord&) = default;
};
std::string write_record(const FileRecord& record);
/// kProtocol: a line that is none of ours.
Result<FileRecord> read_record(std::string_view text);

/// Files on this node. The record is written before the files, so a crash leaves no file that
/// nobody owns; and `on_change` is run until it ends with 0. Life cycle: what it borrows outlives
/// it. Thread: the core loop.
class FilesTarget final : public Target {
 public:
  FilesTarget(runtime::Runtime& runtime, runtime::FileTree& files, FilesOptions options)
      : runtime_(runtime), files_(files), options_(std::move(options)) {}

  runtime::Task<judge::reconcile::PassReport> pass(std::vector<runtime::TreeFile> wanted,
                                                   PassTerms terms) override;

 private:
  struct Change {
    std::string path;
    std::string bytes;
    bool there = false;  ///< with other bytes
    std::string diff;
    std::string waits_for{};  ///< what is in its way until it is pruned; empty: nothing
  };
  /// What is between a file and its place.
  struct Way {
    std::string block{};  ///< empty: nothing
    bool ours = false;    ///< all of it goes, because nothing wants it any more
  };
  struct Pass {
    judge::reconcile::PassReport report;
    FileRecord before;
    FileRecord after;
    std::vector<Change> changes;
    judge::reconcile::PrunePlan prune;
    std::vector<std::string> doomed;
    bool changed = false;  ///< something on the disk is another since, or may be
  };

  runtime::Task<Result<void>> plan(Pass* pass, std::vector<runtime::TreeFile> wanted);
  runtime::Task<Result<void>> plan_one(Pass* pass, runtime::TreeFile file);
  /// Which files of ours nothing wants any more.
  runtime::Task<Result<void>> find_doomed(Pass* pass, std::vector<std::string> wanted);
  void plan_prune(Pass* pass) const;
  runtime::Task<Result<void>> read_own_record(Pass* pass);
  runtime::Task<Result<void>> carry_out(Pass* pass, const PassTerms* terms);
  runtime::Task<void> write_all(Pass* pass, const PassTerms* terms, FileRecord* record);
  runtime::Task<void> write_one(Pass* pass, const PassTerms* terms, Change* change);
  runtime::Task<Result<void>> remove_one(Pass* pass, const PassTerms* terms, std::string path);
  /// After a write that failed: whether it was done all the same. No digest: after a removal.
  runtime::Task<bool> may_be_done(std::string path, std::optional<std::string> digest);
  runtime::Task<void> remove_all(Pass* pass, const PassTerms* terms, FileRecord* record);
  runtime::Task<Result<void>> keep_record(FileRecord record);
  /// That something was changed; whether that was heard.
  runtime::Task<bool> tell(Pass* pass, const PassTerms* terms);
  runtime::Task<Result<void>> run_command(runtime::Deadline deadline);
  /// What an earlier life of this agent has left beside its files when it was killed.
  runtime::Task<void> sweep(const Pass* pass);

  // files_way.cc: a file that becomes a folder of its name, or the other way round
  runtime::Task<Result<Way>> find_way(const Pass* pass, std::string path);
  /// Whether somebody has put a folder in the place of a file of ours.
  runtime::Task<Result<bool>> is_folder(std::string path);
  static Way judge_block(const Pass& pass, const runtime::TreeBlock& block);
  /// Nothing is pruned in this pass.
  static void give_up_waiting(Pass* pass);
  /// Prunes what is in the way of one that waits, and writes it.
  runtime::Task<void> write_waiting(Pass* pass, const PassTerms* terms, Change* change,
                                    FileRecord* record);
  runtime::Task<Result<void>> remove_folders(Pass* pass, const PassTerms* terms, std::string path);

  static void count_write(Pass* pass) {
    ++pass->report.writes;
    pass->changed = true;
  }
  void show(Pass* pass) const;
  void report_written(Pass* pass, Change* change, const Result<void>& done) const;
  void report_removed(Pass* pass, const std::string& path, const Result<void>& done) const;
  [[nodiscard]] std::string shown(const std::string& path) const {
    return options_.folder + "/" + path;
  }
  [[nodiscard]] runtime::TreePlace at(const std::string& path) const {
    return {options_.folder, path};
  }

  runtime::Runtime& runtime_;
  runtime::FileTree& files_;
  const FilesOptions options_;
  bool swept_ = false;
};

}  // namespace wardmote::act::reconcile
