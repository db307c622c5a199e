#include "net/mbedtls/client_layer.h"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <memory>
#include <string>

#include "codec/http_answer.h"
#include "net/http_fetch.h"
#include "net/http_server.h"
#include "net/tls/tls_layer.h"
#include "support/authority.h"
#include "unit/net/net_fixture.h"

namespace wardmote::net {
namespace {

using namespace std::chrono_literals;
using runtime::Endpoint;
using runtime::HttpRequest;
using runtime::HttpResponse;
using runtime::Task;
using runtime::TlsSettings;

/// The command line's TLS asks the agent's, both on one loop.
class Mbedtls : public NetTest {
 protected:
  Mbedtls() { runtime_.use_tls(tls::make_tls_layer()); }
  ~Mbedtls() override { runtime_.run(server_.stop()); }

  void serve(bool wants_clients) {
    const wardmote::testing::Identity identity =
        ours_.issue("server", "IP:127.0.0.1,DNS:a.example");
    TlsSettings settings{.certificate = identity.certificate, .key = identity.key};
    if (wants_clients) settings.ca = ours_.file();
    const auto started = server_.start(
        Endpoint::tls_over_tcp("127.0.0.1", port_, settings), {}, [](const HttpRequest& request) {
          std::string names;
          for (const std::string& name : request.peer.certificate_names) names += name + " ";
          return HttpResponse{.body = names + std::string(request.body.size() * 30, 'x')};
        });
    ASSERT_TRUE(started) << started.error().describe();
  }

  static Task<Result<HttpResponse>> ask(AsioRuntime* runtime, std::uint16_t port,
                                        runtime::TlsLayer* layer, TlsSettings settings,
                                        std::string body) {
    const runtime::Deadline deadline = runtime->deadline_in(10s);
    Result<std::unique_ptr<runtime::Stream>> below =
        co_await runtime->connect(Endpoint::tcp("127.0.0.1", port), deadline);
    if (!below) co_return std::unexpected(below.error());
    Result<std::unique_ptr<runtime::Stream>> stream =
        co_await layer->connect(*std::move(below), std::move(settings), "127.0.0.1", deadline);
    if (!stream) co_return std::unexpected(stream.error());
    HttpRequest request{.method = "POST", .path = "/", .body = std::move(body)};
    const std::string bytes = encode_request(request, "localhost");
    const Result<void> sent = co_await (*stream)->write(bytes, deadline);
    if (!sent) co_return std::unexpected(sent.error());
    codec::HttpAnswerReader reader(false, {.body_bytes = 16 << 20});
    std::array<char, 1000> chunk;
    while (!reader.complete()) {
      const Result<std::size_t> got = co_await (*stream)->read_some(chunk, deadline);
      if (!got) co_return std::unexpected(got.error());
      const Result<void> taken = reader.take({chunk.data(), *got});
      if (!taken) co_return std::unexpected(taken.error());
    }
    co_return HttpResponse{.status = reader.answer().status, .body = reader.answer().body};
  }
  Result<HttpResponse> ask(TlsSettings settings, std::string body = "") {
    return run_task(runtime_,
                    ask(&runtime_, port_, client_.get(), std::move(settings), std::move(body)));
  }
  Errc fault(TlsSettings settings) {
    const auto response = ask(std::move(settings));
    EXPECT_FALSE(response);
    return response ? Errc::kInternal : response.error().code;
  }

  wardmote::testing::Authority ours_{folder_, "ours"};
  wardmote::testing::Authority others_{folder_, "others"};
  std::uint16_t port_ = free_port();
  StreamHttpServer server_{runtime_};
  std::unique_ptr<runtime::TlsLayer> client_ = mbedtls::make_client_layer();
};

TEST_F(Mbedtls, CarriesLongTextsBothWays) {
  serve(false);
  const auto response = ask({.ca = ours_.file()}, std::string(100'000, 'b'));
  ASSERT_TRUE(response) << response.error().describe();
  EXPECT_EQ(response->body, std::string(3'000'000, 'x'));
}

TEST_F(Mbedtls, BelievesOnlyWhatItShouldAndForTheNameThatWasAskedFor) {
  serve(false);
  EXPECT_TRUE(ask({.ca = ours_.file(), .server_name = "a.example"}));
  EXPECT_TRUE(ask({.ca = ours_.file(), .trust = TlsSettings::Trust::kChain, .server_name = "b"}));
  EXPECT_TRUE(ask({.ca = others_.file(), .only_look = true}));
  EXPECT_EQ(fault({.ca = others_.file()}), Errc::kUntrusted);
  EXPECT_EQ(fault({.ca = others_.file(), .trust = TlsSettings::Trust::kChain}), Errc::kUntrusted);
  EXPECT_EQ(fault({.ca = ours_.file(), .server_name = "b.example"}), Errc::kUntrusted);
  EXPECT_EQ(fault({.ca = ours_.file(), .server_name = "127.0.0.2"}), Errc::kUntrusted);
  EXPECT_EQ(fault({.ca = path("nowhere")}), Errc::kInvalid);
}

TEST_F(Mbedtls, ShowsOurCertificateWhereOneIsAskedFor) {
  serve(true);
  const wardmote::testing::Identity reader = ours_.issue("reader", "DNS:reader.example");
  const wardmote::testing::Identity stranger = others_.issue("stranger", "DNS:reader.example");
  const auto known =
      ask({.ca = ours_.file(), .certificate = reader.certificate, .key = reader.key});
  ASSERT_TRUE(known) << known.error().describe();
  EXPECT_EQ(known->body, "dns:reader.example cn:reader ");
  EXPECT_EQ(ask({.ca = ours_.file()})->body, "");
  EXPECT_EQ(fault({.ca = ours_.file(), .certificate = stranger.certificate, .key = stranger.key}),
            Errc::kDenied);
  EXPECT_EQ(fault({.ca = ours_.file(), .certificate = reader.certificate, .key = stranger.key}),
            Errc::kInvalid);
}

}  // namespace
}  // namespace wardmote::net
