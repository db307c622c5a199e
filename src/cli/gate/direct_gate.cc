#include "cli/gate/direct_gate.h"

#include <unistd.h>

#include <array>
#include <boost/json/value.hpp>
#include <cstddef>
#include <expected>
#include <fstream>
#include <ios>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "act/gate/gate_node.h"
#include "act/gate/records.h"
#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "cli/command.h"
#include "judge/version_gate/release.h"
#include "judge/version_gate/status.h"
#include "runtime/endpoint.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "runtime/tls.h"
#include "serve/version_gates.h"

namespace wardmote::cli {

using judge::version_gate::Release;
using runtime::Endpoint;
using runtime::Task;

namespace {

constexpr std::size_t kLongestLine = 4096;

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "localhost";
}

Result<std::string> first_line(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string line;
  if (!file || !std::getline(file, line) || line.empty() || line.size() > kLongestLine)
    return fail(Errc::kInvalid, "{}: no line can be read from it", path);
  return line;
}

Result<Release> release_in(const Call& call, std::string_view name) {
  if (!call.has(name)) return Release();
  const auto release = judge::version_gate::parse_release(call.value(name));
  if (!release) return with_context(release, "--{}", name);
  return release;
}

Result<std::vector<Endpoint>> endpoints_of(const Call& call) {
  runtime::TlsSettings tls{.ca = call.value("ca"),
                           .certificate = call.value("cert"),
                           .key = call.value("key"),
                           .protocol = "h2"};
  const bool secured = !tls.ca.empty() || !tls.certificate.empty();
  std::vector<Endpoint> endpoints;
  for (const std::string& text : call.values("etcd")) {
    const auto endpoint = runtime::parse_endpoint(text);
    if (!endpoint || endpoint->kind != Endpoint::Kind::kTcp)
      return fail(Errc::kInvalid, "--etcd: write HOST:PORT, for example 10.0.0.1:2379");
    endpoints.push_back(secured ? Endpoint::tls_over_tcp(endpoint->host, endpoint->port, tls)
                                : *endpoint);
  }
  return endpoints;
}

Result<act::gate::Layout> layout_of(const Call& call) {
  const bool state = call.has("state-prefix");
  if (state != call.has("nodes-prefix"))
    return fail(Errc::kInvalid, "--state-prefix and --nodes-prefix go together");
  if (state) {
    act::gate::Layout layout{call.value("state-prefix"), call.value("nodes-prefix")};
    const Result<void> apart = check_sense(layout);
    if (!apart) return std::unexpected(apart.error());
    return layout;
  }
  const std::string store = call.has("store") ? call.value("store") : "default";
  return act::gate::layout_of(store, call.value("GATE"));
}

/// Which start of the machine it is.
Result<std::string> boot_id() {
  auto boot = first_line("/proc/sys/kernel/random/boot_id");
  if (!boot) return boot;
  return std::string(trim(*boot));
}

}  // namespace

Result<DirectOptions> direct_options(const Call& call) {
  DirectOptions options;
  auto endpoints = endpoints_of(call);
  if (!endpoints) return std::unexpected(endpoints.error());
  options.etcd.endpoints = *std::move(endpoints);
  options.etcd.user = call.value("etcd-user");
  if (call.has("etcd-password-file") != call.has("etcd-user"))
    return fail(Errc::kInvalid, "--etcd-user and --etcd-password-file go together");
  if (call.has("etcd-password-file")) {
    options.etcd.password = [file = call.value("etcd-password-file")] { return first_line(file); };
    if (const auto now = options.etcd.password(); !now) return std::unexpected(now.error());
  }
  auto layout = layout_of(call);
  if (!layout) return std::unexpected(layout.error());
  if (!call.has("release"))
    return fail(Errc::kInvalid, "--etcd needs --release: the release of this node, as 1.2.3");
  const auto release = release_in(call, "release");
  if (!release) return std::unexpected(release.error());
  const auto objects = release_in(call, "min-reconciler-release");
  if (!objects) return std::unexpected(objects.error());
  auto& node = options.node;
  node.gate = call.value("GATE");
  node.layout = *std::move(layout);
  node.enroll = !call.has("no-register");
  node.own.release = *release;
  node.own.min_reconciler_release = *objects;
  const Result<void> sense = check_sense(node.own);
  if (!sense) return std::unexpected(sense.error());
  node.self.node = call.has("node") ? call.value("node") : host_name();
  if (node.self.node.empty() || node.self.node.contains('/'))
    return fail(Errc::kInvalid, "--node: a name is not empty and has no '/'");
  if (!node.enroll) return options;
  auto boot = boot_id();
  if (!boot) return std::unexpected(boot.error());
  node.self.boot = *std::move(boot);
  return options;
}

DirectGate::DirectGate(runtime::Runtime& runtime, DirectOptions options)
    : runtime_(runtime),
      store_(runtime, std::move(options.etcd), ""),
      node_(runtime, store_, std::move(options.node)),
      woken_(runtime.executor()),
      alarms_(runtime.executor()) {}

void DirectGate::start() {
  started_ = true;
  node_.listen([this] { woken_.notify(); });
  node_.start();
}

Task<void> DirectGate::stop() {
  co_await alarms_.stop();
  if (started_) co_await node_.stop();
  co_await store_.stop();
}

boost::json::value DirectGate::shown() const {
  return serve::gate_json(node_.report());
}

Task<void> DirectGate::alarm(TimePoint at) {
  co_await runtime_.sleep_until(at);
  woken_.notify();
}

Task<void> DirectGate::changed(Duration longest) {
  const auto alarm_task = alarms_.spawn("gate alarm", alarm(runtime_.now() + longest));
  co_await woken_.wait();
  alarms_.cancel(alarm_task);
}

}  // namespace wardmote::cli
