#include "daemon/reconcile_command.h"

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "act/reconcile/kube_target.h"
#include "act/reconcile/options.h"
#include "act/reconcile/target.h"
#include "base/format.h"
#include "base/result.h"
#include "base/time.h"
#include "codec/yaml/manifests.h"
#include "daemon/config_command.h"
#include "daemon/pod.h"
#include "judge/reconcile/report.h"
#include "net/asio_runtime.h"
#include "net/curl/http_client.h"
#include "net/local_tree.h"
#include "runtime/file_tree.h"
#include "runtime/task.h"

namespace wardmote::daemon {

using judge::reconcile::ObjectReport;
using judge::reconcile::PassReport;
using runtime::Task;
using runtime::TreeFile;

namespace {

constexpr int kDiffers = 1;
constexpr int kNotGood = 2;
constexpr int kUsage = 64;
constexpr int kBadInput = 65;
constexpr int kUnavailable = 69;

/// To standard error, while a pass takes long.
class Reporter {
 public:
  explicit Reporter(net::AsioRuntime& runtime) : runtime_(runtime), told_(runtime.now()) {}
  void operator()(std::size_t treated, std::size_t objects) {
    if (runtime_.now() - told_ < kPause) return;
    told_ = runtime_.now();
    fmt::print(stderr, "wardmoted: {} of {} objects so far\n", treated, objects);
  }

 private:
  static constexpr Duration kPause = std::chrono::seconds(5);
  net::AsioRuntime& runtime_;
  TimePoint told_;
};

struct Looked {
  Result<std::vector<TreeFile>> files;
  PassReport report;
};

Task<Looked> look(net::AsioRuntime* runtime, const ReconcileOrder* order) {
  net::LocalTree tree(*runtime);
  net::CurlHttpClient http(*runtime);
  act::reconcile::KubeSetOptions options = order->kubernetes;
  options.login.pod_server = pod_server();
  act::reconcile::KubeTarget target(*runtime, http, nullptr, tree, std::move(options));
  Looked looked;
  std::string folder = order->folder;
  looked.files = co_await tree.read_tree(std::move(folder), runtime::TreeLimits());
  if (!looked.files) co_return looked;
  std::vector<TreeFile> files = *looked.files;
  const bool dry = order->verb != ReconcileVerb::kApply || order->dry;
  act::reconcile::PassTerms terms{
      .dry = dry,
      .deadline = runtime->deadline_in(std::chrono::seconds(order->timeout_seconds)),
      .advanced = Reporter(*runtime)};
  looked.report = co_await target.pass(std::move(files), std::move(terms));
  co_return looked;
}

/// Every problem with its place, before anybody is asked.
std::vector<std::string> faults_of(const std::vector<TreeFile>& files) {
  codec::Manifests manifests;
  for (const TreeFile& file : files) {
    if (act::reconcile::is_manifest(file.path))
      codec::read_manifests(file.path, file.bytes, manifests);
  }
  std::vector<std::string> faults;
  faults.reserve(manifests.faults.size());
  for (const codec::ManifestFault& fault : manifests.faults)
    faults.push_back(codec::describe(fault));
  return faults;
}

std::string text_of(const ObjectReport& one, bool with_diff) {
  if (with_diff && !one.diff.empty() && one.why.empty()) return one.diff;
  std::string text = fmt::format("{} {}{}{}\n", one.object, to_string(one.action),
                                 one.why.empty() ? "" : ": ", one.why);
  if (!one.words.empty()) text += fmt::format("  the server: {}\n", one.words);
  if (with_diff) text += one.diff;
  return text;
}

int exit_of(const PassReport& report) {
  if (!report.good()) return kNotGood;
  return report.dry && report.differs() ? kDiffers : 0;
}

}  // namespace

ConfigAnswer run_reconcile(net::AsioRuntime& runtime, const ReconcileOrder& order) {
  if (!act::reconcile::is_set_name(order.kubernetes.set))
    return {.exit_code = kUsage,
            .errors = "wardmoted: --set: write lower-case letters, digits, '-' and '.', as k8s\n"};
  const Looked looked = net::run_task(runtime, look(&runtime, &order));
  if (!looked.files) {
    return {.exit_code = kBadInput,
            .errors = fmt::format("wardmoted: {}\n", looked.files.error().describe())};
  }
  ConfigAnswer answer;
  for (const std::string& fault : faults_of(*looked.files)) answer.errors += fault + "\n";
  if (!answer.errors.empty()) {
    answer.exit_code = kBadInput;
    return answer;
  }
  const PassReport& report = looked.report;
  const bool with_diff =
      order.verb == ReconcileVerb::kDiff || (order.verb == ReconcileVerb::kApply && order.dry);
  for (const ObjectReport& one : report.touched) answer.output += text_of(one, with_diff);
  // Only a diff that is empty says nothing, as diff(1) does.
  if (order.verb != ReconcileVerb::kDiff) answer.output += summary_of(report) + "\n";
  for (const std::string& fault : report.faults) answer.errors += fault + "\n";
  if (!report.prune_refused.empty())
    answer.errors += fmt::format("nothing is pruned: {}\n", report.prune_refused);
  answer.exit_code = report.unreachable ? kUnavailable : exit_of(report);
  if (report.contradictory || report.no_login) answer.exit_code = kBadInput;
  return answer;
}

}  // namespace wardmote::daemon
