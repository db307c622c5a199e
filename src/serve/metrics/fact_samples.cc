#include "serve/metrics/fact_samples.h"

#include <array>
#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/time.h"
#include "judge/endpoint/dns.h"
#include "judge/endpoint/grpc.h"
#include "judge/endpoint/http.h"
#include "judge/endpoint/ping.h"
#include "judge/endpoint/tls.h"
#include "judge/host/exec.h"
#include "judge/host/file.h"
#include "judge/host/process.h"
#include "judge/observation.h"
#include "judge/service/service.h"
#include "judge/service/systemd.h"
#include "serve/metrics/exposition.h"
#include "serve/metrics/fact_table.h"
#include "serve/metrics/measurement.h"
#include "serve/thing_view.h"

namespace wardmote::serve {
namespace {

double seconds(Duration d) {
  return std::chrono::duration<double>(d).count();
}

/// A unit of the monitoring plugins (their development guidelines), and the one to export.
struct Unit {
  std::string_view written;
  std::string_view exported;
  double factor;
};
constexpr auto kUnits = std::to_array<Unit>({
    {"s", "seconds", 1},
    {"ms", "seconds", 1e-3},
    {"us", "seconds", 1e-6},
    {"ns", "seconds", 1e-9},
    {"%", "ratio", 1e-2},
    {"B", "bytes", 1},
    {"KB", "bytes", 1024},
    {"MB", "bytes", 1024.0 * 1024},
    {"GB", "bytes", 1024.0 * 1024 * 1024},
    {"TB", "bytes", 1024.0 * 1024 * 1024 * 1024},
    {"c", "", 1},
});

/// Turns facts into measurements.
struct Measurer {
  Measurements& into;

  void add(Metric metric, double value) const { into.push_back({metric, {}, value}); }

  void add_process(const std::optional<judge::ProcessFacts>& process) const {
    if (!process || !process->rss) return;
    add(fact_metric("wardmote_service_resident_memory_bytes"), static_cast<double>(*process->rss));
  }

  /// What has no numbers, or is left to its family.
  template <class Other>
  void operator()(const Other&) const {}

  void operator()(const judge::TcpFacts& facts) const {
    add(fact_metric("wardmote_check_connect_seconds"), seconds(facts.connect_time));
  }

  void operator()(const judge::TlsFacts& facts) const {
    add(fact_metric("wardmote_tls_handshake_seconds"), seconds(facts.handshake_time));
    if (!facts.certificate) return;
    add(fact_metric("wardmote_tls_certificate_expiry_timestamp_seconds"),
        seconds(facts.not_after.time_since_epoch()));
    add(fact_metric("wardmote_tls_trusted"), facts.trusted ? 1 : 0);
  }

  void operator()(const judge::HttpFacts& facts) const {
    add(fact_metric("wardmote_http_status_code"), facts.status);
    add(fact_metric("wardmote_http_first_byte_seconds"), seconds(facts.first_byte));
    add(fact_metric("wardmote_http_redirects"), static_cast<double>(facts.redirects));
    if (!facts.kept)
      add(fact_metric("wardmote_check_connect_seconds"), seconds(facts.connect_time));
  }

  void operator()(const judge::GrpcFacts& facts) const {
    add(fact_metric("wardmote_grpc_status_code"), static_cast<double>(facts.status));
    add(fact_metric("wardmote_grpc_answer_seconds"), seconds(facts.answer_time));
    if (!facts.kept)
      add(fact_metric("wardmote_check_connect_seconds"), seconds(facts.connect_time));
  }

  void operator()(const judge::DnsFacts& facts) const {
    add(fact_metric("wardmote_dns_answers"), static_cast<double>(facts.answers.size()));
    add(fact_metric("wardmote_dns_answer_seconds"), seconds(facts.answer_time));
    if (facts.least_ttl) add(fact_metric("wardmote_dns_ttl_seconds"), *facts.least_ttl);
  }

  void operator()(const judge::PingFacts& facts) const {
    const std::pair<std::string_view, std::optional<Duration>> statistics[] = {
        {"min", facts.least}, {"mean", facts.mean}, {"max", facts.most}};
    for (const auto& [name, rtt] : statistics) {
      if (rtt)
        into.push_back(
            {fact_metric("wardmote_ping_rtt_seconds"), {std::string(name)}, seconds(*rtt)});
    }
    if (facts.sent == 0) return;
    const auto sent = static_cast<double>(facts.sent);
    add(fact_metric("wardmote_ping_loss_ratio"),
        (sent - static_cast<double>(facts.received)) / sent);
  }

  void operator()(const judge::ExecFacts& facts) const {
    add(fact_metric("wardmote_exec_exit_code"), facts.exit_code);
    for (const judge::Measured& measured : facts.measured) {
      std::string unit = measured.unit;
      double value = measured.value;
      for (const Unit& known : kUnits) {
        if (measured.unit != known.written) continue;
        unit = known.exported;
        value *= known.factor;
      }
      if (!std::isfinite(value)) continue;
      into.push_back(
          {fact_metric("wardmote_exec_perfdata"), {measured.label, std::move(unit)}, value});
    }
  }

  void operator()(const judge::FileFacts& facts) const {
    if (!facts.exists) return;
    add(fact_metric("wardmote_file_size_bytes"), static_cast<double>(facts.size));
    add(fact_metric("wardmote_file_age_seconds"), seconds(facts.age));
  }

  void operator()(const judge::ProcessListFacts& facts) const {
    add(fact_metric("wardmote_processes"), static_cast<double>(facts.count));
  }

  void operator()(const judge::ServiceFacts& facts) const {
    add(fact_metric("wardmote_service_running"),
        facts.state == judge::ServiceFacts::State::kRun ? 1 : 0);
    add(fact_metric("wardmote_service_restarts"), static_cast<double>(facts.restarts));
    add(fact_metric("wardmote_service_state_seconds"), seconds(facts.in_state));
    add_process(facts.process);
  }

  void operator()(const judge::SystemdFacts& facts) const {
    add(fact_metric("wardmote_service_running"), facts.active_state == "active" ? 1 : 0);
    add(fact_metric("wardmote_service_restarts"), static_cast<double>(facts.recent_restarts));
    if (facts.in_state)
      add(fact_metric("wardmote_service_state_seconds"), seconds(*facts.in_state));
    add_process(facts.process);
  }
};

}  // namespace

std::shared_ptr<const Measurements> measure(const judge::Observation& seen,
                                            std::span<const Family* const> families) {
  Measurements measured;
  std::visit(Measurer{measured}, seen.facts);
  for (const Family* const family : families) {
    if (family->measure != nullptr) family->measure(seen, measured);
  }
  if (measured.empty()) return nullptr;
  return std::make_shared<const Measurements>(std::move(measured));
}

}  // namespace wardmote::serve
