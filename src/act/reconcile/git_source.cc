#include "act/reconcile/git_source.h"

#include <algorithm>
#include <cstddef>
#include <expected>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "act/reconcile/source.h"
#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "codec/git_objects.h"
#include "runtime/deadline.h"
#include "runtime/file_tree.h"
#include "runtime/process.h"
#include "runtime/task.h"

namespace wardmote::act::reconcile {

using codec::GitFile;
using runtime::Task;

namespace {

/// Of the lines that `git` adds to the content of files.
constexpr std::size_t kHeads = 2 << 20;
/// Of entries in a folder that the path leads through.
constexpr std::size_t kMostAbove = 1 << 20;
constexpr std::size_t kLongestComplaint = 300;

/// Names that begin with a dot are left out of a folder, too.
bool is_hidden(std::string_view path) {
  return path.starts_with('.') || path.contains("/.");
}

/// A repository belongs to whoever may write it, and the agent may be root. Reading it must run
/// nothing that it names (a partial clone would fetch what it lacks, by a command of its own
/// configuration), show no other repository, and show the objects that have the ids.
std::vector<std::string> environment() {
  return {"GIT_ALLOW_PROTOCOL=",
          "GIT_NO_LAZY_FETCH=1",
          "GIT_NO_REPLACE_OBJECTS=1",
          "GIT_TERMINAL_PROMPT=0",
          "GIT_DIR",
          "GIT_WORK_TREE",
          "GIT_COMMON_DIR",
          "GIT_OBJECT_DIRECTORY",
          "GIT_ALTERNATE_OBJECT_DIRECTORIES",
          "GIT_NAMESPACE",
          "GIT_CONFIG_PARAMETERS",
          "GIT_CONFIG_COUNT",
          "GIT_EXTERNAL_DIFF"};
}

/// The names that git would try for a short one (gitrevisions(7)).
std::vector<std::string> long_names(const std::string& ref) {
  return {"refs/" + ref, "refs/tags/" + ref, "refs/heads/" + ref, "refs/remotes/" + ref};
}

bool is_plain(const GitFile& file) {
  return file.mode == "100644" || file.mode == "100755" || file.mode == codec::kGitFolder;
}

/// `""`, `a`, `a/b` of `a/b/c`.
std::vector<std::string> folders_above(std::string_view path) {
  std::vector<std::string> above;
  if (!path.empty()) above.emplace_back();
  for (std::size_t at = path.find('/'); at != std::string_view::npos; at = path.find('/', at + 1))
    above.emplace_back(path.substr(0, at));
  return above;
}

}  // namespace

std::string GitSource::describe() const {
  std::string text = fmt::format("{} of {}", options_.ref, options_.work_tree);
  if (!options_.path.empty()) text += ", below " + options_.path;
  return escape_control(text);
}

Task<Result<std::string>> GitSource::run(std::vector<std::string> arguments, std::string input,
                                         runtime::Deadline deadline) {
  const std::string verb = arguments.front();
  runtime::ProcessSpec spec{.argv = {"git", "-C", options_.work_tree},
                            .standard_input = std::move(input),
                            .output_cap = runtime::TreeLimits().all_bytes + kHeads,
                            .ends_family = true,
                            .environment = environment()};
  std::ranges::move(arguments, std::back_inserter(spec.argv));
  auto ended = co_await processes_.run(std::move(spec), deadline);
  if (!ended && ended.error().code == Errc::kMissing)
    co_return with_context(ended, "git {}: install git on this node", verb);
  if (!ended) co_return with_context(ended, "git {}", verb);
  if (ended->status == 0) co_return std::move(ended->standard_output);
  std::string_view said = ended->standard_error;
  co_return fail(Errc::kRejected, "git {} ended with {}: {}", verb, ended->status,
                 escape_control(take_until(said, '\n'), kLongestComplaint));
}

/// Git looks for a repository in the folders above, too: that is somebody else's.
Task<Result<void>> GitSource::check_work_tree(runtime::Deadline deadline) {
  std::vector<std::string> words{"rev-parse", "--is-inside-work-tree", "--show-prefix",
                                 "--git-dir"};
  const auto seen = co_await run(std::move(words), {}, deadline);
  if (!seen) co_return std::unexpected(seen.error());
  // Its top, or a bare one itself.
  if (seen->starts_with("true\n\n") || *seen == "false\n\n.\n") co_return Result<void>();
  co_return fail(Errc::kRejected,
                 "{} is no git repository itself, and the one around it is another",
                 escape_control(options_.work_tree));
}

Task<Result<std::string>> GitSource::find_commit(runtime::Deadline deadline) {
  std::string name = options_.ref;
  // An id means itself, whatever somebody calls a branch.
  const bool is_short = !codec::is_git_id(name) && name != "HEAD" && !name.starts_with("refs/");
  if (is_short) {
    const std::vector<std::string> tried = long_names(name);
    std::vector<std::string> words{"for-each-ref", "--format=%(refname)"};
    words.insert(words.end(), tried.begin(), tried.end());
    const auto listed = co_await run(std::move(words), {}, deadline);
    if (!listed) co_return std::unexpected(listed.error());
    std::vector<std::string_view> found = split(*listed, '\n');
    std::erase_if(
        found, [&](std::string_view one) { return std::ranges::find(tried, one) == tried.end(); });
    if (found.size() > 1)
      co_return fail(Errc::kRejected, "'{}' is ambiguous: {}; write the whole name", name,
                     fmt::join(found, ", "));
    if (found.size() == 1) name = found.front();
  }
  std::vector<std::string> words{"rev-parse", "--verify", name + "^{commit}"};
  auto commit = co_await run(std::move(words), {}, deadline);
  if (!commit) co_return commit;
  if (commit->ends_with('\n')) commit->pop_back();
  if (!codec::is_git_id(*commit)) co_return fail(Errc::kProtocol, "git rev-parse: not a commit");
  co_return commit;
}

/// Git compares with its id only the tree that it is asked for, and not those by which it finds
/// that.
Task<Result<void>> GitSource::check_folders_above(std::string commit, runtime::Deadline deadline) {
  for (const std::string& folder : folders_above(options_.path)) {
    std::vector<std::string> words = {"ls-tree", "-z", "--full-tree",
                                      fmt::format("{}:{}", commit, folder)};
    const auto listed = co_await run(std::move(words), {}, deadline);
    if (!listed) co_return std::unexpected(listed.error());
    const auto entries = codec::parse_git_tree(*listed, kMostAbove);
    if (!entries) co_return std::unexpected(entries.error());
  }
  co_return Result<void>();
}

Task<Result<SourceFiles>> GitSource::read(runtime::Deadline deadline) {
  const runtime::TreeLimits limits;
  if (const auto there = co_await check_work_tree(deadline); !there)
    co_return std::unexpected(there.error());
  const auto commit = co_await find_commit(deadline);
  if (!commit) co_return std::unexpected(commit.error());

  std::string above = *commit;
  if (const auto right = co_await check_folders_above(std::move(above), deadline); !right)
    co_return std::unexpected(right.error());
  // The tree of the path, and not the commit with a path: of a folder that is missing that is
  // empty.
  std::vector<std::string> words = {
      "ls-tree", "-r", "-t", "-z", "--full-tree", fmt::format("{}:{}", *commit, options_.path)};
  const auto listed = co_await run(std::move(words), {}, deadline);
  if (!listed) co_return std::unexpected(listed.error());
  auto tree = codec::parse_git_tree(*listed, limits.files);
  if (!tree) co_return std::unexpected(tree.error());
  std::erase_if(*tree, [](const GitFile& file) { return is_hidden(file.path); });
  const auto odd = std::ranges::find_if_not(*tree, is_plain);
  if (odd != tree->end())
    co_return fail(Errc::kInvalid, "{}: a link or another repository, and neither is followed",
                   escape_control(odd->path));

  std::string ids;
  for (const GitFile& file : *tree) ids += file.id + "\n";
  words = {"cat-file", "--batch"};
  const auto printed = co_await run(std::move(words), std::move(ids), deadline);
  if (!printed) co_return std::unexpected(printed.error());
  auto contents = codec::parse_git_contents(*printed, *tree);
  if (!contents) co_return std::unexpected(contents.error());

  SourceFiles found{.files = {}, .revision = "commit " + *commit};
  for (std::size_t at = 0; at < tree->size(); ++at) {
    if ((*tree)[at].mode == codec::kGitFolder) continue;
    if ((*contents)[at].size() > limits.file_bytes)
      co_return fail(Errc::kLimit, "{}: over {} bytes", escape_control((*tree)[at].path),
                     limits.file_bytes);
    found.files.push_back({std::move((*tree)[at].path), std::move((*contents)[at])});
  }
  co_return found;
}

}  // namespace wardmote::act::reconcile
