#include "codec/git_objects.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "codec/digest.h"

namespace wardmote::codec {
namespace {

constexpr std::size_t kSha1Digits = 40;
constexpr std::size_t kSha256Digits = 64;
constexpr std::size_t kModeDigits = 6;
constexpr std::size_t kShown = 200;

bool is_mode(std::string_view text) {
  return text.size() == kModeDigits && parse_number<unsigned>(text, 8).has_value();
}

/// The words of `<mode> <type> <id>`; nothing: these are others.
std::optional<GitFile> parse_head(std::string_view head) {
  const std::string_view mode = take_until(head, ' ');
  const std::string_view type = take_until(head, ' ');
  const bool known = (mode == kGitFolder ? type == "tree" : type == "blob" || type == "commit");
  if (!is_mode(mode) || !known || !is_git_id(head)) return std::nullopt;
  return GitFile{.mode = std::string(mode), .id = std::string(head), .path = {}};
}

/// As git names it (Git Internals, Git Objects): by a digest of its type, its size and its bytes.
bool has_id(std::string_view type, std::string_view content, std::string_view id) {
  std::string named = fmt::format("{} {}", type, content.size());
  named += '\0';
  named += content;
  return (id.size() == kSha1Digits ? hex(sha1(named)) : hex(sha256(named))) == id;
}

}  // namespace

bool is_git_id(std::string_view text) noexcept {
  if (text.size() != kSha1Digits && text.size() != kSha256Digits) return false;
  return std::ranges::all_of(
      text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

Result<std::vector<GitFile>> parse_git_tree(std::string_view output, std::size_t most) {
  std::vector<GitFile> files;
  std::set<std::string_view> paths;
  std::size_t folders = 0;
  while (!output.empty()) {
    const std::size_t end = output.find('\0');
    if (end == std::string_view::npos) return fail(Errc::kProtocol, "git ls-tree: cut off");
    std::string_view line = output.substr(0, end);
    output.remove_prefix(end + 1);
    std::optional<GitFile> file = parse_head(take_until(line, '\t'));
    if (!file || line.empty()) return fail(Errc::kProtocol, "git ls-tree: not a file");
    if (file->mode == kGitFolder) ++folders;
    if (folders > most || files.size() >= most + folders)
      return fail(Errc::kLimit, "over {} files", most);
    // Git writes no such tree. Which of both a program takes depends on the program.
    if (!paths.insert(line).second)
      return fail(Errc::kProtocol, "git ls-tree: {} is there twice", escape_control(line, kShown));
    file->path = line;
    files.push_back(*std::move(file));
  }
  return files;
}

Result<std::vector<std::string>> parse_git_contents(std::string_view output,
                                                    std::span<const GitFile> files) {
  std::vector<std::string> contents;
  contents.reserve(files.size());
  for (const GitFile& file : files) {
    if (!output.contains('\n')) return fail(Errc::kProtocol, "git cat-file: cut off");
    std::string_view head = take_until(output, '\n');
    const bool asked = take_until(head, ' ') == file.id;
    const std::string_view type = file.mode == kGitFolder ? "tree" : "blob";
    const bool right = take_until(head, ' ') == type;
    const auto size = parse_number<std::size_t>(head);
    if (!asked || !right || !size) return fail(Errc::kProtocol, "git cat-file: not {}", file.id);
    if (output.size() <= *size || output[*size] != '\n')
      return fail(Errc::kProtocol, "git cat-file: {} is cut off", file.id);
    contents.emplace_back(output.substr(0, *size));
    // Git compares no loose object with its name when it prints it.
    if (!has_id(type, contents.back(), file.id))
      return fail(Errc::kProtocol, "git cat-file: {} has other bytes than its name says", file.id);
    output.remove_prefix(*size + 1);
  }
  if (!output.empty()) return fail(Errc::kProtocol, "git cat-file: more than was asked for");
  return contents;
}

}  // namespace wardmote::codec
