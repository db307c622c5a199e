#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "runtime/task_group.h"
#include "sim/tls_fixture.h"

namespace wardmote::sim {
namespace {

TLS_TEST(CarriesTextBothWaysAndTellsWhoIsThere, 20) {
  sim.network().every_link() = {.jitter = 3ms, .loss = 0.1};
  Pair pair(sim);
  const EchoServer echo(pair.server, shows(papers().server));
  const auto stream = pair.connect(believes(papers().ours), "server", 60s);
  ASSERT_TRUE(stream) << stream.error().describe();
  EXPECT_EQ(pair.say(**stream, "ping").value_or(""), "ping");

  const TlsPeer* const peer = (*stream)->tls_peer();
  ASSERT_NE(peer, nullptr);
  EXPECT_TRUE(peer->trusted);
  EXPECT_EQ(peer->version, "TLSv1.3");
  EXPECT_EQ(peer->common_name, "server");
  EXPECT_EQ(peer->issuer, "CN=ours");
  EXPECT_EQ(peer->names,
            (std::vector<std::string>{"dns:server", "dns:*.db.example", "ip:10.0.0.1"}));
  const Duration lifetime = peer->not_after - peer->not_before;
  EXPECT_EQ(lifetime, 25h);
  EXPECT_FALSE(echo.caller.certificate) << "nobody asked the client for one";
}

TLS_TEST(SaysWhyAServerIsNotBelieved, 1) {
  const auto error_of = [&](const Identity& shown, const TlsSettings& settings) {
    Pair pair(sim);
    const EchoServer echo(pair.server, shows(shown));
    return pair.connect_error(settings);
  };
  Papers& p = papers();
  const Error unknown = error_of(p.server, believes(p.theirs));
  EXPECT_EQ(unknown.code, Errc::kUntrusted);
  EXPECT_EQ(unknown.context,
            "ssl:server:6641: TLS: certificate 'CN=server' is signed by "
            "'CN=ours', which is not among " +
                p.theirs.file());

  const Error outdated = error_of(p.outdated, believes(p.ours));
  EXPECT_EQ(outdated.code, Errc::kExpired);
  EXPECT_TRUE(outdated.context.contains("has run out on 20")) << outdated.context;

  const Error premature = error_of(p.premature, believes(p.ours, Trust::kChain));
  EXPECT_EQ(premature.code, Errc::kExpired);
  EXPECT_TRUE(premature.context.contains("is valid from 20")) << premature.context;

  const Error other_name = error_of(p.client, believes(p.ours));
  EXPECT_EQ(other_name.code, Errc::kUntrusted);
  EXPECT_TRUE(other_name.context.contains(
      "'CN=agent-1' is for uri:spiffe://ward/agent-1, email:ops@example, not for 'server'"))
      << other_name.context;
}

TLS_TEST(TheNameMayBeAnotherOrNoMatter, 1) {
  Papers& p = papers();
  Pair pair(sim);
  const EchoServer echo(pair.server, shows(p.server));
  for (const char* name : {"10.0.0.1", "a.db.example", "server"}) {
    TlsSettings settings = believes(p.ours);
    settings.server_name = name;
    EXPECT_TRUE(pair.connect(settings)) << name;
  }
  for (const char* name : {"10.0.0.2", "a.b.db.example", "db.example", "serve"}) {
    TlsSettings settings = believes(p.ours);
    settings.server_name = name;
    EXPECT_EQ(pair.connect_error(settings).code, Errc::kUntrusted) << name;
    settings.trust = Trust::kChain;
    EXPECT_TRUE(pair.connect(settings)) << name;
  }
}

TLS_TEST(WhoOnlyLooksIsToldWhatIsWrong, 1) {
  Papers& p = papers();
  Pair pair(sim);
  const EchoServer echo(pair.server, shows(p.outdated));
  TlsSettings curious = believes(p.ours);
  curious.only_look = true;
  const auto stream = pair.connect(curious);
  ASSERT_TRUE(stream) << stream.error().describe();
  const TlsPeer& peer = *(*stream)->tls_peer();
  EXPECT_FALSE(peer.trusted);
  EXPECT_EQ(peer.distrust.code, Errc::kExpired);
  EXPECT_EQ(peer.first_to_expire, "CN=server");
  EXPECT_EQ(pair.say(**stream, "ping").value_or(""), "ping");
}

TLS_TEST(AServerLearnsWhoCalls, 1) {
  Papers& p = papers();
  Pair pair(sim);
  const EchoServer echo(pair.server, shows(p.server, p.ours.file()));

  TlsSettings known = believes(p.ours);
  known.certificate = p.client.certificate;
  known.key = p.client.key;
  auto stream = pair.connect(known);
  ASSERT_TRUE(stream) << stream.error().describe();
  EXPECT_TRUE(pair.say(**stream, "ping"));
  EXPECT_TRUE(echo.caller.certificate && echo.caller.trusted);
  EXPECT_EQ(echo.caller.common_name, "agent-1");
  EXPECT_EQ(echo.caller.names,
            (std::vector<std::string>{"uri:spiffe://ward/agent-1", "email:ops@example"}));

  stream = pair.connect(believes(p.ours));
  ASSERT_TRUE(stream) << stream.error().describe();
  EXPECT_TRUE(pair.say(**stream, "ping")) << "a caller without a certificate is nobody, but served";
  EXPECT_FALSE(echo.caller.certificate || echo.caller.trusted);
  EXPECT_EQ(echo.caller.common_name, "");

  TlsSettings forged = known;
  forged.certificate = p.stranger.certificate;
  forged.key = p.stranger.key;
  stream = pair.connect(forged);
  ASSERT_TRUE(stream) << "with TLS 1.3 the client learns it only when it reads";
  const auto refused = pair.say(**stream, "ping");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::kDenied) << refused.error().describe();
  EXPECT_TRUE(refused.error().context.contains("does not know the authority"))
      << refused.error().context;
  EXPECT_EQ(std::ranges::count(echo.errors, Errc::kUntrusted), 1);
}

/// Accepts, says its words whatever it hears, and then is silent or gone.
Task<void> speak(SimRuntime* host, std::string words, bool stays) {
  const auto listener = host->listen(Endpoint::tcp("server", kPort));
  auto stream = co_await (*listener)->accept();
  const Deadline deadline = host->deadline_in(1h);
  if (!words.empty()) co_await (*stream)->write(words, deadline);
  if (stays) co_await host->sleep_until(TimePoint::max());
  std::array<char, 4096> chunk;
  co_await (*stream)->read_some(chunk, deadline);
}

Error against(World& sim, std::string words, bool stays) {
  Pair pair(sim);
  pair.server.spawn("speaker", speak(&pair.server, std::move(words), stays));
  sim.run_for(1ms);
  const TimePoint begun = sim.now();
  const Error error = pair.connect_error(believes(papers().ours));
  EXPECT_LE(sim.now() - begun, 2s) << "the deadline covers the handshake";
  return error;
}

TLS_TEST(KnowsWhatIsNoTls, 1) {
  const Error http = against(sim, "HTTP/1.1 400 Bad Request\r\n\r\n", true);
  EXPECT_EQ(http.code, Errc::kProtocol);
  EXPECT_EQ(http.context, "ssl:server:6641: TLS: what it says is not TLS");
  EXPECT_EQ(against(sim, "SSH-2.0-OpenSSH_9.2\r\n", true).code, Errc::kProtocol);
  EXPECT_EQ(
      against(sim, std::string("\x16\x03\x01\xff\xff", 5) + std::string(70000, 'x'), true).code,
      Errc::kProtocol);
  const Error gone = against(sim, "", false);
  EXPECT_EQ(gone.code, Errc::kClosed);
  EXPECT_EQ(gone.context, "ssl:server:6641: TLS handshake: without a word; is TLS spoken there?");
  EXPECT_EQ(against(sim, std::string("\x15\x03\x01\x00\x02\x02\x46", 7), true).context,
            "ssl:server:6641: TLS: no version of TLS in common: here 1.2 or later");
}

TLS_TEST(AStalledHandshakeEndsAtTheDeadline, 1) {
  for (const std::string& words : {std::string(), std::string("\x16\x03\x03\x00\x7a\x02", 6)}) {
    const TimePoint begun = sim.now();
    const Error stalled = against(sim, words, true);
    EXPECT_EQ(stalled.code, Errc::kTimeout);
    EXPECT_EQ(stalled.context, "ssl:server:6641: TLS handshake");
    EXPECT_EQ(sim.now() - begun, 2s + 1ms);
  }
  Pair pair(sim);
  sim.network().isolate("server");
  EXPECT_EQ(pair.connect_error(believes(papers().ours)).code, Errc::kUnreachable)
      << "no host is something else than a host that stalls";
}

TLS_TEST(AServerSurvivesWhoeverCalls, 5) {
  Pair pair(sim);
  const EchoServer echo(pair.server, shows(papers().server));
  std::vector<std::unique_ptr<Stream>> rude;
  for (int i = 0; i < 200; ++i) {
    const Endpoint plain = Endpoint::tcp("server", kPort);
    rude.push_back(run_task(sim, pair.us, pair.us.connect(plain, pair.us.deadline_in(1s))).value());
    std::string noise = i % 4 == 0 ? "" : i % 4 == 1 ? "GET / HTTP/1.1\r\n\r\n" : "\x16\x03\x01";
    for (int n = i % 100; n > 0; --n) noise += static_cast<char>(sim.random().below(256));
    run_task(sim, pair.us, rude.back()->write(noise, pair.us.deadline_in(1s)));
  }
  const auto stream = pair.connect(believes(papers().ours));
  ASSERT_TRUE(stream) << stream.error().describe();
  EXPECT_EQ(pair.say(**stream, "ping").value_or(""), "ping");
}

TLS_TEST(MuchTextGoesBothWaysAtOnce, 3) {
  sim.network().every_link() = {.jitter = 1ms};
  Pair pair(sim);
  const EchoServer echo(pair.server, shows(papers().server));
  const auto stream = pair.connect(believes(papers().ours));
  ASSERT_TRUE(stream) << stream.error().describe();
  std::string text;
  while (text.size() < 1'000'000) text += static_cast<char>(sim.random().below(256));
  constexpr auto write_all = [](Stream* to, const std::string* what,
                                Deadline deadline) -> Task<void> {
    const auto written = co_await to->write(*what, deadline);
    EXPECT_TRUE(written);
  };
  constexpr auto read_all = [](Stream* from, std::string* into, std::size_t size,
                               Deadline deadline) -> Task<void> {
    std::array<char, 5000> chunk;
    while (into->size() < size) {
      const auto got = co_await from->read_some(chunk, deadline);
      if (!got) co_return;
      into->append(chunk.data(), *got);
    }
  };
  std::string heard;
  const Deadline deadline = pair.us.deadline_in(60s);
  std::vector<Task<void>> both;
  both.push_back(write_all(stream->get(), &text, deadline));
  both.push_back(read_all(stream->get(), &heard, text.size(), deadline));
  sim.run(pair.us, runtime::run_all(pair.us.executor(), std::move(both)));
  EXPECT_TRUE(heard == text);
}

TLS_TEST(FilesThatChangeCountFromTheNextConnection, 1) {
  Papers& p = papers();
  Pair pair(sim);
  Identity shown = p.ours.issue("rotating", {.common_name = "first"});
  const std::string bundle = (p.folder / "bundle.pem").string();
  std::filesystem::copy_file(p.ours.file(), bundle);
  const EchoServer echo(pair.server, shows(shown));
  const TlsSettings settings{.ca = bundle, .trust = Trust::kChain};
  const auto name = [&] {
    const auto stream = pair.connect(settings);
    return stream ? (*stream)->tls_peer()->common_name : stream.error().describe();
  };
  const auto old = pair.connect(settings);
  EXPECT_EQ(name(), "first");
  p.ours.issue("rotating", {.common_name = "second"});
  EXPECT_EQ(name(), "second");
  EXPECT_EQ(pair.say(**old, "ping").value_or(""), "ping") << "what stands is left alone";

  std::ofstream(shown.certificate) << "half a certifica";
  EXPECT_EQ(name(), "second") << "files that are no good do not end a service";
  std::filesystem::remove(shown.key);
  EXPECT_EQ(name(), "second");
  p.ours.issue("rotating", {.common_name = "third"});
  EXPECT_EQ(name(), "third");

  std::filesystem::copy_file(p.theirs.file(), bundle,
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_EQ(pair.connect_error(settings).code, Errc::kUntrusted);
}

TLS_TEST(FilesThatCannotBeUsedAreNamed, 1) {
  Papers& p = papers();
  Pair pair(sim);
  const EchoServer echo(pair.server, shows(p.server));
  const Error missing = pair.connect_error({.ca = "/nowhere/ca.pem"});
  EXPECT_EQ(missing.code, Errc::kInvalid) << "nothing is missing at the other end";
  EXPECT_EQ(missing.context, "ssl:server:6641: ca /nowhere/ca.pem: missing");
  EXPECT_EQ(pair.connect_error({.ca = p.folder.string()}).code, Errc::kInvalid);

  TlsSettings mixed = believes(p.ours);
  mixed.certificate = p.client.certificate;
  EXPECT_EQ(pair.connect_error(mixed).code, Errc::kInvalid) << "no key";
  mixed.key = p.stranger.key;
  const Error mismatch = pair.connect_error(mixed);
  EXPECT_EQ(mismatch.code, Errc::kInvalid);
  EXPECT_TRUE(mismatch.context.contains(p.stranger.key)) << mismatch.context;
  mixed.key = p.client.certificate;
  EXPECT_EQ(pair.connect_error(mixed).code, Errc::kInvalid) << "a certificate is no key";

  const Endpoint at = Endpoint::tls_over_tcp("server", 9470, {});
  EXPECT_EQ(pair.server.listen(at).error().code, Errc::kInvalid)
      << "a server without a certificate";
}

TLS_TEST(APortGoesOverToOtherSettingsAndIsNeverGivenUp, 1) {
  Papers& p = papers();
  Pair pair(sim);
  EchoServer echo(pair.server, shows(p.server));
  const auto before = pair.connect(believes(p.ours));
  ASSERT_TRUE(before) << before.error().describe();

  ASSERT_TRUE(echo.listener->change_to(Endpoint::tls_over_tcp("server", kPort, shows(p.client))));
  const auto after = pair.connect(believes(p.ours, Trust::kChain));
  ASSERT_TRUE(after) << after.error().describe();
  EXPECT_EQ((*after)->tls_peer()->common_name, "agent-1");
  EXPECT_EQ(pair.say(**before, "ping").value_or(""), "ping") << "what stands is not touched";

  const Endpoint plain = Endpoint::tcp("server", kPort);
  const TlsSettings broken{.certificate = p.client.certificate, .key = p.server.key};
  const Endpoint impossible[] = {Endpoint::tls_over_tcp("server", kPort, broken),
                                 Endpoint::tls_over_tcp("server", kPort, {}),
                                 Endpoint::tcp("server", kPort + 1), Endpoint::tcp("us", kPort),
                                 Endpoint::unix_socket("/run/x.sock")};
  for (const Endpoint& at : impossible) {
    EXPECT_EQ(echo.listener->change_to(at).error().code, Errc::kInvalid) << to_string(at);
    EXPECT_TRUE(pair.connect(believes(p.ours, Trust::kChain))) << "as before";
  }

  ASSERT_TRUE(echo.listener->change_to(plain));
  const auto open = run_task(sim, pair.us, pair.us.connect(plain, pair.us.deadline_in(2s)));
  ASSERT_TRUE(open) << open.error().describe();
  EXPECT_EQ(pair.say(**open, "ping").value_or(""), "ping");
  EXPECT_EQ((*open)->tls_peer(), nullptr);
  ASSERT_TRUE(echo.listener->change_to(Endpoint::tls_over_tcp("server", kPort, shows(p.server))));
  EXPECT_TRUE(pair.connect(believes(p.ours)));
}

TLS_TEST(AProgramWithoutItSaysWhoHasIt, 1) {
  SimRuntime& us = sim.host("us");
  const Endpoint to = runtime::parse_endpoint("ssl:server:6641").value();
  const auto stream = run_task(sim, us, us.connect(to, us.deadline_in(1s)));
  ASSERT_FALSE(stream);
  EXPECT_EQ(stream.error().code, Errc::kInvalid);
  EXPECT_TRUE(stream.error().context.contains("let it look")) << stream.error().context;
  EXPECT_EQ(us.listen(to).error().code, Errc::kInvalid);
  const auto plain = us.listen(Endpoint::tcp("us", kPort));
  ASSERT_TRUE(plain);
  EXPECT_EQ((*plain)->change_to(Endpoint::tls_over_tcp("us", kPort, {})).error().code,
            Errc::kInvalid);
}

/// Hands bytes on, and changes one of those that come from the server.
Task<void> forward(SimRuntime* host, Stream* from, Stream* to, std::size_t spoil) {
  std::array<char, 300> chunk;
  for (std::size_t passed = 0;;) {
    const Deadline deadline = host->deadline_in(1h);
    const auto got = co_await from->read_some(chunk, deadline);
    if (!got) co_return to->close();
    if (spoil >= passed && spoil < passed + *got) chunk[spoil - passed] ^= 0x10;
    passed += *got;
    const std::string_view bytes(chunk.data(), *got);
    const auto written = co_await to->write(bytes, deadline);
    if (!written) co_return;
  }
}

Task<void> stand_between(SimRuntime* host, std::size_t spoil) {
  const auto listener = host->listen(Endpoint::tcp("middle", kPort));
  const auto near = co_await (*listener)->accept();
  const Deadline deadline = host->deadline_in(1s);
  const Endpoint server = Endpoint::tcp("server", kPort);
  const auto far = co_await host->connect(server, deadline);
  std::vector<Task<void>> ways;
  ways.push_back(forward(host, near->get(), far->get(), SIZE_MAX));
  ways.push_back(forward(host, far->get(), near->get(), spoil));
  co_await runtime::run_all(host->executor(), std::move(ways));
}

TLS_TEST(NobodyBetweenCanChangeAByte, 60) {
  Pair pair(sim);
  const EchoServer echo(pair.server, shows(papers().server));
  SimRuntime& middle = sim.host("middle");
  const Curfew curfew(middle);
  middle.spawn("middle", stand_between(&middle, sim.random().below(1100)));
  sim.run_for(1ms);
  const auto stream = pair.connect(believes(papers().ours, Trust::kChain), "middle");
  if (!stream) return;
  const std::string text(400, 'x');
  const auto heard = pair.say(**stream, text);
  if (heard) EXPECT_EQ(*heard, text);
}

}  // namespace
}  // namespace wardmote::sim
