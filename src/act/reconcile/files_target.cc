#include "act/reconcile/files_target.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "act/reconcile/target.h"
#include "base/format.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "codec/digest.h"
#include "judge/reconcile/decision.h"
#include "judge/reconcile/diff.h"
#include "judge/reconcile/object_id.h"
#include "judge/reconcile/prune.h"
#include "judge/reconcile/report.h"
#include "runtime/deadline.h"
#include "runtime/file_tree.h"
#include "runtime/process.h"
#include "runtime/task.h"

namespace wardmote::act::reconcile {

namespace rules = judge::reconcile;
using Action = judge::reconcile::ObjectReport::Action;
using judge::reconcile::ObjectReport;
using judge::reconcile::PassReport;
using runtime::Deadline;
using runtime::Task;
using runtime::TreeFile;

namespace {

constexpr std::size_t kMostBytes = 4 << 20;
constexpr std::size_t kMostRecord = 8 << 20;
constexpr std::size_t kOutputCap = 64 << 10;
constexpr std::size_t kShown = 300;
constexpr std::size_t kDigits = 64;
constexpr std::string_view kChanged = "# changed";
constexpr std::string_view kFolder = "# folder ";

std::string digest_of(std::string_view bytes) {
  return codec::hex(codec::sha256(bytes));
}

/// Whether a path can stand in a line of the record.
bool is_plain(std::string_view path) {
  return std::ranges::none_of(
      path, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f || c == '\\'; });
}

/// A difference of files that are no text says nothing.
std::string diff_of(const std::string& path, const std::string& before, const std::string& after) {
  const auto binary = [](const std::string& bytes) { return bytes.contains('\0'); };
  if (binary(before) || binary(after)) return "Binary files differ: " + path + "\n";
  return rules::unified_diff(path, before, after);
}

Result<void> not_any_more() {
  return fail(Errc::kClosed, "this agent may not write any more");
}

}  // namespace

std::string write_record(const FileRecord& record) {
  std::string text = fmt::format("{}{}\n", kFolder, record.folder);
  if (record.changed) text += fmt::format("{}\n", kChanged);
  for (const auto& [path, digest] : record.files) text += fmt::format("{}  {}\n", digest, path);
  return text;
}

Result<FileRecord> read_record(std::string_view text) {
  FileRecord record;
  while (!text.empty()) {
    std::string_view line = take_until(text, '\n');
    if (record.files.empty() && consume_prefix(line, kFolder)) {
      record.folder = line;
      continue;
    }
    if (line == kChanged) {
      record.changed = true;
      continue;
    }
    const bool good =
        line.size() > kDigits + 2 && line.substr(kDigits, 2) == "  " &&
        line.substr(0, kDigits).find_first_not_of("0123456789abcdef") == std::string_view::npos;
    if (!good) return fail(Errc::kProtocol, "a line that nobody wrote for us");
    record.files.emplace(line.substr(kDigits + 2), line.substr(0, kDigits));
  }
  return record;
}

Task<PassReport> FilesTarget::pass(std::vector<TreeFile> wanted, PassTerms terms) {
  Pass pass{.report = {.dry = terms.dry, .begun = runtime_.wall_now(), .objects = wanted.size()}};
  const TimePoint begun = runtime_.now();
  Result<void> done = co_await plan(&pass, std::move(wanted));
  if (done && !terms.dry) done = co_await carry_out(&pass, &terms);
  if (done && terms.dry) show(&pass);
  if (!done) pass.report.faults.push_back(done.error().describe());
  pass.report.took = runtime_.now() - begun;
  co_return std::move(pass.report);
}

Task<Result<void>> FilesTarget::plan(Pass* pass, std::vector<TreeFile> wanted) {
  Result<void> planned = co_await read_own_record(pass);
  if (!planned) co_return planned;
  std::vector<std::string> paths;
  for (const TreeFile& file : wanted) {
    if (!is_plain(file.path))
      co_return fail(Errc::kInvalid, "the name '{}' has control characters or a backslash",
                     escape_control(file.path));
    paths.push_back(file.path);
  }
  pass->after.folder = options_.folder;
  pass->after.changed = pass->before.changed;
  planned = co_await find_doomed(pass, std::move(paths));
  if (!planned) co_return planned;
  for (TreeFile& file : wanted) {
    planned = co_await plan_one(pass, std::move(file));
    if (!planned) co_return planned;
  }
  plan_prune(pass);
  co_return planned;
}

Task<Result<void>> FilesTarget::read_own_record(Pass* pass) {
  std::string at_record = options_.record;
  const auto text = co_await files_.read(std::move(at_record), kMostRecord);
  if (!text) co_return with_context(text, "the record of our files");
  pass->before.folder = options_.folder;
  if (!*text) co_return Result<void>();
  auto record = read_record(**text);
  if (!record) co_return with_context(record, "{}", options_.record);
  // Names of another folder say nothing of this one, and its files would be forgotten.
  if (record->folder != options_.folder)
    co_return fail(Errc::kRejected,
                   "{} says what is ours in {}, and not in {}; give that folder again, or remove "
                   "the record and see to the files there yourself",
                   options_.record, escape_control(record->folder), options_.folder);
  pass->before = *std::move(record);
  co_return Result<void>();
}

Task<Result<void>> FilesTarget::plan_one(Pass* pass, TreeFile file) {
  const bool ours = pass->before.files.contains(file.path);
  const char* const whose = ours ? "a file of ours" : "a new file";
  // Else it would count as ours in the next pass, and the brake would let go.
  if (pass->prune.doubted && !ours) {
    pass->report.touched.push_back(
        {.object = file.path,
         .action = Action::kLeft,
         .why = "it is not made, nor taken over, while pruning is refused"});
    co_return Result<void>();
  }
  runtime::TreePlace place = at(file.path);
  auto there = co_await files_.read_own(std::move(place), kMostBytes);
  Way way;
  if (!there || !*there) {
    std::string path = file.path;
    auto found = co_await find_way(pass, std::move(path));
    if (!found) co_return with_context(found, "{}", whose);
    way = *std::move(found);
  }
  if (!way.block.empty()) there = std::optional<std::string>();
  if (!there) co_return with_context(there, "{}", whose);
  if (!way.block.empty() && !way.ours) {
    pass->report.touched.push_back(
        {.object = file.path,
         .action = Action::kFailed,
         .why = fmt::format("{} is in its way, and it is not ours; remove it",
                            escape_control(way.block))});
    co_return Result<void>();
  }
  const bool same = *there && **there == file.bytes;
  // Somebody else's file, even one with the same bytes: it would be deleted with its source.
  const bool theirs = *there && !ours && !options_.adopt;
  if (theirs && same) co_return Result<void>();
  if (theirs) {
    pass->report.touched.push_back(
        {.object = file.path,
         .action = Action::kFailed,
         .why = "another file is there, and it is not ours; remove it, or set adopt: true"});
    co_return Result<void>();
  }
  pass->after.files.emplace(file.path, digest_of(file.bytes));
  if (same) co_return Result<void>();
  Change change{.path = file.path, .there = there->has_value()};
  change.diff = diff_of(file.path, there->value_or(""), file.bytes);
  change.bytes = std::move(file.bytes);
  change.waits_for = std::move(way.block);
  pass->changes.push_back(std::move(change));
  co_return Result<void>();
}

Task<Result<void>> FilesTarget::find_doomed(Pass* pass, std::vector<std::string> wanted) {
  std::vector<rules::LiveObject> found;
  std::set<rules::ObjectId> desired;
  const auto id_of = [](const std::string& path) {
    return rules::ObjectId{.kind = "File", .name = path};
  };
  for (const std::string& path : wanted) desired.insert(id_of(path));
  for (const auto& [path, digest] : pass->before.files) {
    runtime::TreePlace where = at(path);
    const auto there = co_await files_.read_own(std::move(where), kMostBytes);
    if (!there) {
      std::string same = path;
      const auto folder = co_await is_folder(std::move(same));
      if (folder && *folder) continue;
      co_return with_context(there, "a file of ours");
    }
    if (!*there) continue;  // gone already
    const bool changed = digest_of(**there) != digest;
    found.push_back({.id = id_of(path), .set = "files", .applied_by_us = true, .keeps = changed});
  }
  pass->prune = rules::plan_prune("files", found, desired, {.percent = options_.prune_limit});
  co_return Result<void>();
}

void FilesTarget::plan_prune(Pass* pass) const {
  rules::PrunePlan& plan = pass->prune;
  for (const rules::ObjectId& id : plan.kept) {
    pass->report.touched.push_back(
        {.object = id.name,
         .action = Action::kLeft,
         .why = "nothing wants it; somebody else has changed it since, so it is kept"});
  }
  const bool failed = !pass->report.good();
  if (!plan.doomed.empty() && plan.refused.empty() && failed)
    plan.refused = "not everything can be written";
  pass->report.prune_refused = plan.refused;
  if (!plan.refused.empty()) give_up_waiting(pass);
  for (const rules::ObjectId& id : plan.doomed) {
    if (plan.refused.empty()) {
      pass->doomed.push_back(id.name);
      continue;
    }
    pass->after.files.emplace(id.name, pass->before.files.at(id.name));
    pass->report.touched.push_back({.object = id.name,
                                    .action = Action::kLeft,
                                    .why = "nothing wants it; nothing is pruned now"});
  }
}

void FilesTarget::show(Pass* pass) const {
  for (Change& change : pass->changes) {
    pass->report.touched.push_back({.object = change.path,
                                    .action = change.there ? Action::kChanged : Action::kCreated,
                                    .diff = std::move(change.diff)});
  }
  for (const std::string& path : pass->doomed)
    pass->report.touched.push_back(
        {.object = path, .action = Action::kPruned, .why = "nothing wants it"});
}

void FilesTarget::report_written(Pass* pass, Change* change, const Result<void>& done) const {
  ObjectReport said{.object = change->path,
                    .action = change->there ? Action::kChanged : Action::kCreated,
                    .diff = std::move(change->diff)};
  if (!done)
    said = {.object = change->path, .action = Action::kFailed, .why = done.error().describe()};
  log(done ? LogLevel::kInfo : LogLevel::kWarning, "reconcile_file",
      {{"path", shown(change->path)}, {"action", std::string(rules::to_string(said.action))}});
  pass->report.touched.push_back(std::move(said));
}

void FilesTarget::report_removed(Pass* pass, const std::string& path,
                                 const Result<void>& done) const {
  log(done ? LogLevel::kInfo : LogLevel::kWarning, "reconcile_file",
      {{"path", shown(path)}, {"action", done ? "pruned" : "failed"}});
  pass->report.touched.push_back({.object = path,
                                  .action = done ? Action::kPruned : Action::kFailed,
                                  .why = done ? "nothing wants it" : done.error().describe()});
}

Task<Result<void>> FilesTarget::keep_record(FileRecord record) {
  const std::size_t slash = options_.record.rfind('/');
  runtime::TreePlace where{options_.record.substr(0, slash), options_.record.substr(slash + 1)};
  std::string text = write_record(record);
  constexpr int kOwnerOnly = 0600;
  Result<void> kept = co_await files_.replace(std::move(where), std::move(text), kOwnerOnly);
  if (!kept) co_return with_context(kept, "the record of our files");
  co_return kept;
}

Task<void> FilesTarget::write_all(Pass* pass, const PassTerms* terms, FileRecord* record) {
  for (Change& change : pass->changes) {
    if (change.waits_for.empty()) co_await write_one(pass, terms, &change);
  }
  // Something is pruned for these, so all else has to have gone well.
  for (Change& change : pass->changes) {
    if (!change.waits_for.empty()) co_await write_waiting(pass, terms, &change, record);
  }
}

Task<void> FilesTarget::write_one(Pass* pass, const PassTerms* terms, Change* change) {
  Result<void> done = not_any_more();
  if (terms->may_write()) {
    runtime::TreePlace where = at(change->path);
    done = co_await files_.replace(std::move(where), std::move(change->bytes), options_.mode);
    std::string path = change->path;
    std::string digest = pass->after.files.at(path);
    const bool written = done || co_await may_be_done(std::move(path), std::move(digest));
    if (written) count_write(pass);
  }
  report_written(pass, change, done);
}

Task<Result<void>> FilesTarget::remove_one(Pass* pass, const PassTerms* terms, std::string path) {
  Result<void> done = not_any_more();
  if (terms->may_write()) {
    runtime::TreePlace where = at(path);
    done = co_await files_.remove(std::move(where));
    std::string same = path;
    const bool removed = done || co_await may_be_done(std::move(same), std::nullopt);
    if (removed) count_write(pass);
  }
  report_removed(pass, path, done);
  co_return done;
}

Task<bool> FilesTarget::may_be_done(std::string path, std::optional<std::string> digest) {
  runtime::TreePlace where = at(path);
  const auto there = co_await files_.read_own(std::move(where), kMostBytes);
  if (!there) co_return true;
  co_return digest ? *there&& digest_of(**there) == *digest : !*there;
}

Task<void> FilesTarget::remove_all(Pass* pass, const PassTerms* terms, FileRecord* record) {
  if (!pass->report.good()) co_return;  // in the next pass
  for (const std::string& path : pass->doomed) {
    std::string doomed = path;
    const Result<void> done = co_await remove_one(pass, terms, std::move(doomed));
    if (done) record->files.erase(path);
  }
}

Task<Result<void>> FilesTarget::carry_out(Pass* pass, const PassTerms* terms) {
  const bool changes = !pass->changes.empty() || !pass->doomed.empty();
  pass->after.changed = !options_.on_change.empty() && (pass->before.changed || changes);
  // What is about to be written is ours from now on, and what is about to go still is.
  FileRecord intent = pass->after;
  for (const std::string& path : pass->doomed)
    intent.files.emplace(path, pass->before.files.at(path));
  if (intent != pass->before) {
    if (!terms->may_write()) co_return not_any_more();
    if (terms->announce) {
      Result<void> announced = co_await terms->announce();
      if (!announced) co_return announced;
    }
    FileRecord copy = intent;
    Result<void> kept = co_await keep_record(std::move(copy));
    if (!kept) co_return kept;
  }
  const FileRecord noted = intent;
  if (!swept_ && terms->may_write()) co_await sweep(pass);
  co_await write_all(pass, terms, &intent);
  co_await remove_all(pass, terms, &intent);
  // Unless this pass has changed something, the command is owed only by an earlier one.
  intent.changed = intent.changed && (pass->before.changed || pass->changed);
  if (intent.changed) intent.changed = !co_await tell(pass, terms);
  if (intent == noted) co_return Result<void>();
  FileRecord last = intent;
  Result<void> kept = co_await keep_record(std::move(last));
  co_return kept;
}

Task<void> FilesTarget::sweep(const Pass* pass) {
  std::map<std::string, std::string> one_of;  // each folder: a file in it
  const auto note = [&one_of](const std::string& path) {
    const std::size_t slash = path.rfind('/');
    one_of.emplace(slash == std::string::npos ? "" : path.substr(0, slash), path);
  };
  for (const auto& [path, digest] : pass->before.files) note(path);
  for (const auto& [path, digest] : pass->after.files) note(path);
  swept_ = true;
  for (const auto& [folder, path] : one_of) {
    runtime::TreePlace where = at(path);
    const auto removed = co_await files_.remove_leftovers(std::move(where));
    // What is in the way is told by the pass; the next one looks again.
    if (!removed) swept_ = false;
    if (removed && *removed > 0) {
      log(LogLevel::kInfo, "reconcile_leftovers_removed",
          {{"folder", shown(folder)}, {"files", std::to_string(*removed)}});
    }
  }
}

Task<bool> FilesTarget::tell(Pass* pass, const PassTerms* terms) {
  Result<void> told = not_any_more();
  if (terms->may_write()) told = co_await run_command(terms->deadline);
  if (!told) pass->report.faults.push_back(told.error().describe());
  co_return told.has_value();
}

Task<Result<void>> FilesTarget::run_command(Deadline deadline) {
  runtime::ProcessSpec spec{.argv = options_.on_change, .output_cap = kOutputCap};
  const auto ended = co_await runtime_.processes().run(std::move(spec), deadline);
  if (!ended) co_return with_context(ended, "{}", options_.on_change.front());
  if (ended->status == 0) co_return Result<void>();
  co_return fail(Errc::kRejected, "{} ended with {}: {}", options_.on_change.front(), ended->status,
                 escape_control(trim(ended->standard_error), kShown));
}

}  // namespace wardmote::act::reconcile
