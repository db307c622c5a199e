#pragma once

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "net/tls/tls_layer.h"
#include "runtime/tls.h"
#include "sim/ovn_host.h"
#include "sim/seeds.h"
#include "support/authority.h"

namespace wardmote::sim {

using runtime::Deadline;
using runtime::Endpoint;
using runtime::Listener;
using runtime::Stream;
using runtime::Task;
using runtime::TlsPeer;
using runtime::TlsSettings;
using testing::Authority;
using testing::Identity;
using Trust = TlsSettings::Trust;
using namespace std::chrono_literals;

inline constexpr std::uint16_t kPort = 6641;

/// What these tests share, because keys take their time: an authority, another, and who they
/// signed.
struct Papers {
  Papers() = default;
  Papers(const Papers&) = delete;
  Papers& operator=(const Papers&) = delete;
  ~Papers() { std::filesystem::remove_all(folder); }

  static std::filesystem::path new_folder() {
    std::string pattern = ::testing::TempDir() + "wardmote-tls-XXXXXX";
    return ::mkdtemp(pattern.data());
  }

  std::filesystem::path folder = new_folder();
  Authority ours{folder, "ours"};
  Authority theirs{folder, "theirs"};
  Identity server = ours.issue("server", "DNS:server,DNS:*.db.example,IP:10.0.0.1");
  Identity client = ours.issue("agent-1", "URI:spiffe://ward/agent-1,email:ops@example");
  Identity stranger = theirs.issue("stranger", {.common_name = "agent-1"});
  Identity outdated = ours.issue(
      "outdated", {.common_name = "server", .names = "DNS:server", .begins = -48h, .ends = -24h});
  Identity premature = ours.issue(
      "premature", {.common_name = "server", .names = "DNS:server", .begins = 24h, .ends = 48h});
};

inline Papers& papers() {
  static Papers papers;
  return papers;
}

inline TlsSettings shows(const Identity& identity, std::string ca = "") {
  return {.ca = std::move(ca), .certificate = identity.certificate, .key = identity.key};
}

inline TlsSettings believes(const Authority& authority, Trust trust = Trust::kChainAndName) {
  return {.ca = authority.file(), .trust = trust};
}

/// Real TLS in the simulated world: no SIM_TEST, because OpenSSL's own chance makes bytes that
/// differ from run to run.
#define TLS_TEST(name, seeds)                                                \
  static void tls_body_##name(World& sim);                                   \
  TEST(Tls, name) {                                                          \
    for (std::uint64_t seed = 1; seed <= (seeds) && !HasFailure(); ++seed) { \
      World sim(seed);                                                       \
      tls_body_##name(sim);                                                  \
    }                                                                        \
  }                                                                          \
  static void tls_body_##name([[maybe_unused]] World& sim)

/// A server that says back what it hears, and keeps what it knows of its last caller.
struct EchoServer {
  EchoServer(SimRuntime& at, const TlsSettings& settings)
      : host(at), listener(at.listen(Endpoint::tls_over_tcp("server", kPort, settings)).value()) {
    host.spawn("echo", accept_all());
  }

  Task<void> accept_all() {
    for (;;) {
      auto stream = co_await listener->accept();
      if (!stream) co_return;
      std::shared_ptr<Stream> shared = *std::move(stream);
      host.spawn("echo one", echo(std::move(shared)));
    }
  }
  Task<void> echo(std::shared_ptr<Stream> stream) {
    std::array<char, 4096> chunk;
    for (;;) {
      const Deadline deadline = host.deadline_in(1h);
      const auto got = co_await stream->read_some(chunk, deadline);
      if (!got) {
        errors.push_back(got.error().code);
        co_return;
      }
      if (const TlsPeer* const peer = stream->tls_peer()) caller = *peer;
      const std::string_view heard(chunk.data(), *got);
      const auto said = co_await stream->write(heard, deadline);
      if (!said) co_return;
    }
  }

  SimRuntime& host;
  std::unique_ptr<Listener> listener;
  TlsPeer caller;
  std::vector<Errc> errors;  ///< why callers went
  Curfew curfew{host};
};

/// Two hosts that know TLS.
struct Pair {
  explicit Pair(World& world) : sim(world) {
    us.use_tls(*layer);
    server.use_tls(*layer);
  }

  Result<std::unique_ptr<Stream>> connect(const TlsSettings& settings,
                                          const std::string& host = "server",
                                          Duration timeout = 2s) {
    return run_task(
        sim, us,
        us.connect(Endpoint::tls_over_tcp(host, kPort, settings), us.deadline_in(timeout)));
  }
  Error connect_error(const TlsSettings& settings) {
    const auto stream = connect(settings);
    EXPECT_FALSE(stream);
    return stream ? Error{} : stream.error();
  }
  Result<std::string> say(Stream& stream, const std::string& text) {
    return run_task(sim, us, exchange(&stream, text, us.deadline_in(2s)));
  }
  static Task<Result<std::string>> exchange(Stream* stream, std::string text, Deadline deadline) {
    const Result<void> said = co_await stream->write(text, deadline);
    if (!said) co_return std::unexpected(said.error());
    std::string heard;
    while (heard.size() < text.size()) {
      std::array<char, 1000> chunk;
      const auto got = co_await stream->read_some(chunk, deadline);
      if (!got) co_return std::unexpected(got.error());
      heard.append(chunk.data(), *got);
    }
    co_return heard;
  }

  World& sim;
  std::unique_ptr<runtime::TlsLayer> layer = net::tls::make_tls_layer();
  SimRuntime& us = sim.host("us");
  SimRuntime& server = sim.host("server");
  Curfew curfew{server};
};

}  // namespace wardmote::sim
