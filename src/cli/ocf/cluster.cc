#include "cli/ocf/cluster.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <fstream>
#include <ios>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "cli/ocf/published.h"
#include "judge/failover/candidate.h"
#include "runtime/deadline.h"
#include "runtime/process.h"
#include "runtime/runtime.h"
#include "runtime/task_group.h"

namespace wardmote::cli::ocf {

using judge::failover::ClusterRecord;
using judge::failover::Peer;
using runtime::Deadline;
using runtime::Task;

namespace {

constexpr std::string_view kActive = "OVN_REPL_INFO";
constexpr std::string_view kEpoch = "OVN_REPL_EPOCH";
constexpr std::string_view kPropertySet = "ovn_ovsdb_master_server";
/// crm_attribute's exit code when there is no such property (CRM_EX_NOSUCH).
constexpr int kNoSuch = 105;
/// A tool that takes longer waits for a cluster that does not answer.
constexpr Duration kLongest = std::chrono::seconds(8);
/// How long what this node published may take to come back.
constexpr Duration kOwnNews = std::chrono::seconds(1);
/// Under load Pacemaker runs the notifications of the nodes one after the other, so that waiting
/// for another one is in vain.
constexpr Duration kOthersNews = std::chrono::milliseconds(300);
constexpr Duration kNextLook = std::chrono::milliseconds(20);

/// A configuration that is larger is asked for, and not read.
constexpr std::streamoff kLargestCib = std::streamoff{4} << 20;

/// Of `<nvpair … name="NAME" … value="…"/>`; empty when it is not there.
std::string value_in_cib(std::string_view text, std::string_view name) {
  constexpr std::string_view kValue = "value=\"";
  const std::size_t found = text.find(fmt::format("name=\"{}\"", name));
  if (found == std::string_view::npos) return {};
  const std::size_t begin = text.rfind('<', found);
  const std::size_t end = text.find('>', found);
  if (begin == std::string_view::npos || end == std::string_view::npos) return {};
  const std::string_view element = text.substr(begin, end - begin);
  const std::size_t value = element.find(kValue);
  if (value == std::string_view::npos) return {};
  const std::string_view rest = element.substr(value + kValue.size());
  return std::string(rest.substr(0, rest.find('"')));
}

/// `12 n1`: in one property, so that it is never half written.
void read_epoch(std::string_view text, ClusterRecord& record) {
  record.epoch = parse_number<std::uint64_t>(take_until(text, ' ')).value_or(0);
  record.author = trim(text);
}

Task<void> keep(Task<Result<std::string>> work, Result<std::string>* into) {
  Result<std::string> found = co_await std::move(work);
  *into = std::move(found);
}

}  // namespace

std::string Cluster::tool(std::string_view name) const {
  return fmt::format("{}/{}", parameters_.sbin, name);
}

Task<Result<std::string>> Cluster::run(std::vector<std::string> argv, Deadline deadline) {
  const std::string program = argv.front();
  runtime::ProcessSpec spec;
  spec.argv = std::move(argv);
  const Deadline soon{std::min(deadline.at, runtime_.now() + kLongest)};
  const Result<runtime::ProcessExit> ended =
      co_await runtime_.processes().run(std::move(spec), soon);
  if (!ended) co_return with_context(ended, "{}", program);
  if (ended->status == kNoSuch) co_return fail(Errc::kMissing, "{}", program);
  if (ended->status != 0) {
    co_return fail(Errc::kRejected, "{} exited with {}: {}", program, ended->status,
                   escape_control(trim(ended->standard_error)));
  }
  co_return ended->standard_output;
}

Task<std::string> Cluster::node_name(Deadline deadline) {
  std::vector<std::string> argv = {tool("crm_node"), "-n"};
  const Result<std::string> name = co_await run(std::move(argv), deadline);
  if (name && !trim(*name).empty()) co_return std::string(trim(*name));
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) co_return "localhost";
  co_return std::string(host.data());
}

Task<Result<std::string>> Cluster::property(std::string name, Deadline deadline) {
  std::vector<std::string> argv = {
      tool("crm_attribute"),     "--type",  "crm_config", "--name", std::move(name), "-s",
      std::string(kPropertySet), "--query", "-q"};
  const Result<std::string> value = co_await run(std::move(argv), deadline);
  if (!value && value.error().code == Errc::kMissing) co_return std::string();
  if (!value) co_return std::unexpected(value.error());
  co_return std::string(trim(*value));
}

Task<Result<void>> Cluster::set_property(std::string name, std::string value, Deadline deadline) {
  std::vector<std::string> argv = {
      tool("crm_attribute"),     "--type", "crm_config",    "--name", std::move(name), "-s",
      std::string(kPropertySet), "-v",     std::move(value)};
  const Result<std::string> done = co_await run(std::move(argv), deadline);
  if (!done) co_return std::unexpected(done.error());
  co_return Result<void>();
}

Task<Result<ClusterRecord>> Cluster::record(Deadline deadline) {
  Result<std::string> active;
  Result<std::string> epoch;
  std::vector<Task<void>> both;
  both.push_back(keep(property(std::string(kActive), deadline), &active));
  both.push_back(keep(property(std::string(kEpoch), deadline), &epoch));
  Task<void> all = runtime::run_all(runtime_.executor(), std::move(both));
  co_await std::move(all);
  if (!active) co_return std::unexpected(active.error());
  if (!epoch) co_return std::unexpected(epoch.error());
  ClusterRecord record;
  record.active = *active;
  read_epoch(*epoch, record);
  co_return record;
}

std::optional<ClusterRecord> Cluster::record_on_disk() const {
  std::ifstream file(parameters_.cib, std::ios::binary | std::ios::ate);
  const std::streamoff size = file.tellg();
  if (size <= 0 || size > kLargestCib) return std::nullopt;
  file.seekg(0);
  std::string text(static_cast<std::size_t>(size), '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  ClusterRecord record;
  record.active = value_in_cib(text, kActive);
  read_epoch(value_in_cib(text, kEpoch), record);
  if (record.active.empty()) return std::nullopt;
  return record;
}

Task<Result<void>> Cluster::record_active(std::string node, Deadline deadline) {
  std::string name(kActive);
  Result<void> done = co_await set_property(std::move(name), std::move(node), deadline);
  co_return done;
}

Task<Result<void>> Cluster::record_epoch(std::uint64_t epoch, std::string author,
                                         Deadline deadline) {
  std::string name(kEpoch);
  std::string value = fmt::format("{} {}", epoch, author);
  Result<void> done = co_await set_property(std::move(name), std::move(value), deadline);
  co_return done;
}

Task<Result<void>> Cluster::set_score(int score, Deadline deadline) {
  std::vector<std::string> argv = {
      tool("attrd_updater"), "-n", "master-" + parameters_.instance, "-N", parameters_.node, "-U",
      std::to_string(score)};
  const Result<std::string> done = co_await run(std::move(argv), deadline);
  if (!done) co_return std::unexpected(done.error());
  co_return Result<void>();
}

Task<Result<void>> Cluster::forget_score(Deadline deadline) {
  std::vector<std::string> argv = {
      tool("attrd_updater"), "-n", "master-" + parameters_.instance, "-N", parameters_.node, "-D"};
  const Result<std::string> done = co_await run(std::move(argv), deadline);
  if (!done) co_return std::unexpected(done.error());
  co_return Result<void>();
}

Task<Result<void>> Cluster::publish(std::string position, Deadline deadline) {
  std::vector<std::string> argv = {tool("attrd_updater"),
                                   "-p",
                                   "-n",
                                   "wardmote-" + parameters_.instance,
                                   "-N",
                                   parameters_.node,
                                   "-U",
                                   std::move(position)};
  const Result<std::string> done = co_await run(std::move(argv), deadline);
  if (!done) co_return std::unexpected(done.error());
  co_return Result<void>();
}

Task<std::vector<Peer>> Cluster::exchange(std::string position, std::vector<std::string> awaited,
                                          Deadline deadline) {
  const Peer own = parse_published(parameters_.node, position);
  const Result<void> published = co_await publish(std::move(position), deadline);
  if (!published) co_return std::vector<Peer>();
  const TimePoint begun = runtime_.now();
  const TimePoint until = std::min(deadline.at, begun + kOwnNews);
  while (true) {
    std::vector<Peer> all = co_await every_node(deadline);
    const auto mine = std::ranges::find(all, parameters_.node, &Peer::name);
    bool arrived = mine != all.end() && mine->position == own.position;
    if (arrived && runtime_.now() >= begun + kOthersNews) awaited.clear();
    for (const std::string& name : awaited) {
      const auto peer = std::ranges::find(all, name, &Peer::name);
      arrived = arrived && peer != all.end() && (peer->settled || name == parameters_.node);
    }
    if (arrived || runtime_.now() >= until) {
      if (mine != all.end()) all.erase(mine);
      co_return all;
    }
    co_await runtime_.sleep_until(runtime_.now() + kNextLook);
  }
}

Task<std::vector<Peer>> Cluster::peers(Deadline deadline) {
  std::vector<Peer> found = co_await every_node(deadline);
  std::erase_if(found, [&](const Peer& peer) { return peer.name == parameters_.node; });
  co_return found;
}

Task<std::vector<Peer>> Cluster::every_node(Deadline deadline) {
  // With these in its environment attrd_updater answers for this node alone, whatever it is asked.
  std::vector<std::string> argv = {"env",
                                   "-u",
                                   "OCF_RESKEY_CRM_meta_on_node",
                                   "-u",
                                   "OCF_RESKEY_CRM_meta_physical_host",
                                   tool("attrd_updater"),
                                   "-n",
                                   "wardmote-" + parameters_.instance,
                                   "-A",
                                   "-Q"};
  const Result<std::string> output = co_await run(std::move(argv), deadline);
  if (!output) co_return std::vector<Peer>();
  co_return parse_peers(*output);
}

}  // namespace wardmote::cli::ocf
