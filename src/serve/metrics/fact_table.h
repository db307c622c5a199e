#pragma once

#include <string_view>

#include "serve/metrics/exposition.h"

namespace wardmote::serve {

/// What the last probe of a check saw. The first label of each is the check.
inline constexpr MetricInfo kFactMetrics[] = {
    {"wardmote_check_connect_seconds", MetricType::kGauge, "check",
     "How long the last connect took, with TLS where there is some; absent on a kept connection."},
    {"wardmote_http_status_code", MetricType::kGauge, "check", "Status of the last HTTP answer."},
    {"wardmote_http_first_byte_seconds", MetricType::kGauge, "check",
     "Time until the header of the last HTTP answer."},
    {"wardmote_http_redirects", MetricType::kGauge, "check",
     "Redirects that the last HTTP probe followed."},
    {"wardmote_grpc_status_code", MetricType::kGauge, "check",
     "grpc-status of the last gRPC answer."},
    {"wardmote_grpc_answer_seconds", MetricType::kGauge, "check",
     "How long the last gRPC answer took."},
    {"wardmote_tls_handshake_seconds", MetricType::kGauge, "check",
     "How long the last TLS handshake took, with the connect."},
    {"wardmote_tls_certificate_expiry_timestamp_seconds", MetricType::kGauge, "check",
     "When the first certificate of the chain expires, in seconds since 1970."},
    {"wardmote_tls_trusted", MetricType::kGauge, "check",
     "Whether clients can trust the certificate."},
    {"wardmote_dns_answers", MetricType::kGauge, "check",
     "Records of the type in the last DNS answer."},
    {"wardmote_dns_answer_seconds", MetricType::kGauge, "check",
     "How long the last DNS answer took."},
    {"wardmote_dns_ttl_seconds", MetricType::kGauge, "check",
     "The lowest TTL in the last DNS answer."},
    {"wardmote_ping_rtt_seconds", MetricType::kGauge, "check,statistic",
     "Round trips of the last ping: min, mean and max."},
    {"wardmote_ping_loss_ratio", MetricType::kGauge, "check",
     "Share of the last echo requests without an answer, 0 to 1."},
    {"wardmote_exec_exit_code", MetricType::kGauge, "check",
     "Exit code of the last command, or 128 and the signal."},
    {"wardmote_exec_perfdata", MetricType::kGauge, "check,label,unit",
     "Performance data of a plugin; unit is seconds, bytes, ratio, what the plugin wrote, or "
     "empty."},
    {"wardmote_file_size_bytes", MetricType::kGauge, "check", "Size of the file."},
    {"wardmote_file_age_seconds", MetricType::kGauge, "check", "Time since the file was modified."},
    {"wardmote_processes", MetricType::kGauge, "check", "Processes that match."},
    {"wardmote_service_running", MetricType::kGauge, "check",
     "Whether the supervisor says that the service runs."},
    {"wardmote_service_restarts", MetricType::kGauge, "check",
     "Restarts of the service within the window of the check."},
    {"wardmote_service_state_seconds", MetricType::kGauge, "check",
     "How long the service is in its state."},
    {"wardmote_service_resident_memory_bytes", MetricType::kGauge, "check",
     "Resident memory of the service's main process."},
};

consteval Metric fact_metric(std::string_view name) {
  return row_of(kFactMetrics, name);
}

}  // namespace wardmote::serve
