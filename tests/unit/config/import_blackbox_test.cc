#include <gtest/gtest.h>

#include <string>

#include "base/result.h"
#include "config/config.h"
#include "config/import/format.h"
#include "unit/config/import_fixture.h"

namespace wardmote::config {
namespace {

constexpr const char* kModules = R"(modules:
  http_2xx:
    prober: http
    timeout: 5s
    http:
      preferred_ip_protocol: ip4
      fail_if_body_not_matches_regexp: ["all systems go"]
      headers: {Accept-Language: en}
  http_post:
    prober: http
    http: {method: POST, body: '{}'}
  login:
    prober: http
    http:
      basic_auth: {username: u, password: not-to-be-copied}
  bearer:
    prober: http
    http:
      headers: {Authorization: Bearer not-to-be-copied}
  tcp_connect:
    prober: tcp
  banner:
    prober: tcp
    tcp:
      query_response:
        - send: !!binary AAAACATSFi8=
        - expect: "^SSH-2.0-"
      tls: true
      tls_config: {insecure_skip_verify: true, ca_file: /etc/ssl/lab.pem}
  resolver:
    prober: dns
    dns: {query_name: www.example.org, query_type: SOA, transport_protocol: tcp, valid_rcodes: [NXDOMAIN]}
  echo:
    prober: icmp
    icmp: {preferred_ip_protocol: ip4, ip_protocol_fallback: false, ttl: 5}
  health:
    prober: grpc
    grpc: {service: my.Service, tls: true}
  socket:
    prober: unix
)";

constexpr const char* kPrometheus = R"(global: {scrape_interval: 15s}
scrape_configs:
  - job_name: web
    metrics_path: /probe
    scrape_timeout: 4s
    params: {module: [http_2xx]}
    static_configs:
      - targets: ["https://example.org/", example.net:8080]
    relabel_configs: &usual
      - {source_labels: [__address__], target_label: __param_target}
      - {source_labels: [__param_target], target_label: instance}
      - {target_label: __address__, replacement: 127.0.0.1:9115}
)";

/// As the README of blackbox_exporter has it, for several jobs.
std::string prometheus(const std::string& jobs) {
  return "global: {scrape_interval: 15s}\nscrape_configs:\n" + jobs;
}

std::string job(const std::string& module, const std::string& targets,
                const std::string& more = "") {
  return "  - job_name: " + module + "\n    metrics_path: /probe\n    params: {module: [" + module +
         "]}\n    static_configs: [{targets: [" + targets +
         "]}]\n    relabel_configs:\n"
         "      - {source_labels: [__address__], target_label: __param_target}\n" +
         more +
         "      - {source_labels: [__param_target], target_label: instance}\n"
         "      - {target_label: __address__, replacement: '127.0.0.1:9115'}\n";
}

TEST(ImportBlackbox, EachTargetOfAJobBecomesACheckByItsModule) {
  const Imported made = import_texts(
      {{"blackbox.yml", kModules},
       {"prometheus.yml",
        prometheus(job("http_2xx", "'https://example.org/up', 'example.net:8080'") +
                   job("tcp_connect", "'10.0.0.1:22'") + job("banner", "'db.example:5432'") +
                   job("resolver", "'10.0.0.53'") + job("echo", "10.0.0.1") +
                   job("health", "etcd.example"))}});
  accepted(made);
  EXPECT_EQ(made.yaml, R"(checks:
  - name: http_2xx-example.org-up
    https:
      url: https://example.org/up
      status:
        - "200-299"
      redirects: 10
      body: all systems go
      header:
        - "Accept-Language: en"
    every: 15s
    timeout: 5s
  - name: http_2xx-example.net-8080
    http:
      url: http://example.net:8080/
      status:
        - "200-299"
      redirects: 10
      body: all systems go
      header:
        - "Accept-Language: en"
    every: 15s
    timeout: 5s
  - name: tcp_connect-10.0.0.1-22
    tcp:
      address: "10.0.0.1:22"
    every: 15s
    timeout: 9500ms
  - name: banner-db.example-5432
    tls:
      address: db.example:5432
      verify: none
      tls_ca: /etc/ssl/lab.pem
    every: 15s
    timeout: 9500ms
  - name: resolver-10.0.0.53
    dns:
      min_answers: 0
      name: www.example.org
      type: SOA
      tcp: true
      rcode: NXDOMAIN
      server: "10.0.0.53:53"
    every: 15s
    timeout: 9500ms
  - name: echo-10.0.0.1
    ping:
      host: "10.0.0.1"
      count: 1
      family: ipv4
    every: 15s
    timeout: 9500ms
  - name: health-etcd.example
    grpc:
      address: ssl:etcd.example:443
      service: my.Service
    every: 15s
    timeout: 9500ms
)");
}

TEST(ImportBlackbox, SaysWhatAProbeOfOursDoesNotLookAt) {
  const Imported made = import_text(kModules);
  EXPECT_TRUE(says(made,
                   "line 11: module http_post: method: the module is left out: the probe "
                   "sends GET or HEAD only"))
      << all_notes(made);
  EXPECT_TRUE(says(made, "module banner: query_response: not played"));
  EXPECT_TRUE(says(made, "module echo: ttl: no counterpart"));
  EXPECT_TRUE(says(made, "module socket: left out: the prober 'unix' has no counterpart"));
  EXPECT_TRUE(says(made, "redirects are followed on the same host and scheme only"));
}

TEST(ImportBlackbox, NeverCopiesACredential) {
  const Imported made =
      import_texts({{"blackbox.yml", kModules},
                    {"prometheus.yml", prometheus(job("http_2xx",
                                                      "'http://me:not-to-be-copied@h/', "
                                                      "'http://h/?api_token=not-to-be-copied', "
                                                      "'http://h/ok'"))}});
  EXPECT_FALSE(made.yaml.contains("not-to-be-copied")) << made.yaml;
  EXPECT_FALSE(says(made, "not-to-be-copied")) << all_notes(made);
  EXPECT_TRUE(says(made, "module login: basic_auth: the module is left out: the probe does not"));
  EXPECT_TRUE(says(made, "module bearer: headers: the module is left out: a header may hold"));
  EXPECT_EQ(accepted(made).checks.size(), 1U);
}

/// A placeholder must not look like a target, and must not wake anybody.
TEST(ImportBlackbox, WithoutTargetsAModuleIsAnOptionalCheckOfNobody) {
  const Imported made = import_text(kModules);
  const Config config = accepted(made);
  EXPECT_EQ(config.checks.size(), 6U);
  for (const Check& check : config.checks) EXPECT_TRUE(check.schedule.optional) << check.name;
  EXPECT_TRUE(made.yaml.contains("url: http://target.invalid/")) << made.yaml;
  EXPECT_TRUE(says(made, "no file has targets: write them in place of target.invalid"));
}

TEST(ImportBlackbox, RelabellingThatCopiesAndJoinsIsFollowed) {
  const Imported made = import_texts(
      {{"blackbox.yml", kModules},
       {"prometheus.yml",
        prometheus(
            job("http_2xx", "example.org",
                "      - {source_labels: [__address__], target_label: __param_target, replacement: "
                "'https://$1/health'}\n      - {source_labels: [__address__], target_label: "
                "__param_hostname}\n") +
            job("tcp_connect", "'10.0.0.9:22'",
                "      - {source_labels: [__address__], regex: '(.*):22', target_label: "
                "__param_target}\n"))}});
  EXPECT_TRUE(made.yaml.contains("url: https://example.org/health")) << made.yaml;
  EXPECT_TRUE(made.yaml.contains("- \"Host: example.org\"")) << made.yaml;
  EXPECT_EQ(accepted(made).checks.size(), 1U);
  EXPECT_TRUE(says(made,
                   "prometheus.yml: line 16: job tcp_connect: a target is left out: its "
                   "relabelling is more than copying"))
      << all_notes(made);
}

TEST(ImportBlackbox, RelabellingThatChoosesOrChangesIsNotFollowed) {
  const auto made_by = [](const std::string& rule) {
    return import_texts({{"blackbox.yml", kModules},
                         {"prometheus.yml", prometheus(job("http_2xx", "'http://A/'", rule) +
                                                       job("tcp_connect", "'b:1'"))}});
  };
  for (const std::string action : {"keep", "drop", "keepequal", "dropequal"}) {
    const Imported made =
        made_by("      - {source_labels: [__address__], action: " + action + "}\n");
    EXPECT_EQ(accepted(made).checks.size(), 1U) << made.yaml;
    EXPECT_TRUE(says(made, "left out: relabelling with '" + action + "' chooses among"));
  }
  for (const std::string action : {"lowercase", "uppercase", "hashmod"}) {
    const Imported made =
        made_by("      - {source_labels: [__param_target], target_label: __param_target, action: " +
                action + "}\n");
    EXPECT_EQ(accepted(made).checks.size(), 1U) << made.yaml;
    EXPECT_TRUE(says(made, "a target is left out: its relabelling is more than copying"));
  }
  const Imported made =
      made_by("      - {source_labels: [nothing], regex: (.+), target_label: __param_target}\n");
  EXPECT_TRUE(made.yaml.contains("url: http://A/")) << "an empty label does not match (.+)";
}

TEST(ImportBlackbox, AModuleThatWouldAskSomethingElseIsLeftOut) {
  const Imported made = import_text(R"(modules:
  several: {prober: dns, dns: {query_name: a.example, query_type: A, valid_rcodes: [NOERROR, NXDOMAIN]}}
  itself: {prober: dns, dns: {query_name: a.example, query_type: A, recursion_desired: false}}
  good: {prober: dns, dns: {query_name: a.example, query_type: A, valid_rcodes: [NXDOMAIN]}}
  less: {prober: http, http: {body_size_limit: 1MB, valid_http_versions: [HTTP/1.1]}}
)");
  EXPECT_EQ(accepted(made).checks.size(), 2U) << made.yaml;
  for (const std::string note :
       {"module several: valid_rcodes: the module is left out: only one of them can be good",
        "module itself: recursion_desired: the module is left out: the probe always desires",
        "module less: body_size_limit: not tested", "module less: valid_http_versions: not tested"})
    EXPECT_TRUE(says(made, note)) << note << "\n" << all_notes(made);
}

TEST(ImportBlackbox, NamesWhatOtherSourcesOfTargetsThereAre) {
  const Imported made =
      import_texts({{"blackbox.yml", kModules},
                    {"prometheus.yml",
                     prometheus(job("http_2xx", "'http://a/'") +
                                "    kubernetes_sd_configs: [{role: service}]\n"
                                "  - {job_name: node, static_configs: [{targets: ['a:9100']}]}\n" +
                                job("nowhere", "'http://b/'"))}});
  EXPECT_TRUE(says(made, "job http_2xx: kubernetes_sd_configs: its targets are not in this file"))
      << all_notes(made);
  EXPECT_TRUE(says(made, "1 jobs do not ask blackbox_exporter"));
  EXPECT_TRUE(says(made, "module nowhere: a target is left out: no file has this module"));
  EXPECT_TRUE(says(made, "module tcp_connect: no job uses it"));
}

TEST(ImportBlackbox, HostileFilesAreRefusedWithTheirPlace) {
  EXPECT_EQ(refused({{"a.yml", kPrometheus}, {"b.yml", kModules}}).code, Errc::kInvalid);
  EXPECT_TRUE(refused({{"a.yml", kPrometheus}}).context.contains("a.yml:9:")) << "of the anchor";
  std::string deep = "modules:\n  x: ";
  for (int i = 0; i < 100; ++i) deep += "[";
  EXPECT_EQ(refused({{"deep.yml", deep + "prober"}}).code, Errc::kLimit);
  std::string many = "modules:\n  m: {prober: icmp}\n";
  std::string targets;
  for (int i = 0; i < 10'050; ++i) targets += "h" + std::to_string(i) + ",";
  EXPECT_EQ(refused({{"m.yml", many}, {"p.yml", prometheus(job("m", targets))}}).code,
            Errc::kLimit);
  EXPECT_EQ(refused({{"nul.yml", std::string("modules:\n  prober\0: a\n", 22)}}).code,
            Errc::kInvalid);
  EXPECT_EQ(refused({{"none.yml", "modules:\n  a: {prober: none}\n"}}).code, Errc::kInvalid);
}

}  // namespace
}  // namespace wardmote::config
