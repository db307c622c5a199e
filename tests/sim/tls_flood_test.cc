#include <gtest/gtest.h>
#include <openssl/bio.h>
#include <openssl/ssl.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "net/tls/openssl.h"
#include "net/tls/tls_layer.h"
#include "sim/tls_fixture.h"

namespace wardmote::sim {
namespace {

using net::tls::ContextPtr;
using net::tls::SslPtr;

constexpr std::size_t kFlood = 16 << 20;
constexpr std::size_t kPiece = 16 << 10;

/// What a server sends after the handshake, again and again: `idle` records without text, then
/// `text` bytes of it.
struct Manners {
  int version = TLS1_3_VERSION;
  int idle = 0;
  std::size_t text = 0;
  std::size_t rounds = 1'000'000;
};

/// OpenSSL itself, told to do what no honest server does.
class FloodServer {
 public:
  FloodServer(SimRuntime& at, const Papers& shown, Manners manners)
      : host_(at),
        manners_(manners),
        context_(SSL_CTX_new(TLS_server_method())),
        listener_(at.listen(Endpoint::tcp("server", kPort)).value()) {
    SSL_CTX_set_min_proto_version(context_.get(), manners.version);
    SSL_CTX_set_max_proto_version(context_.get(), manners.version);
    SSL_CTX_set_num_tickets(context_.get(), 0);
    check(
        SSL_CTX_use_certificate_chain_file(context_.get(), shown.server.certificate.c_str()) == 1 &&
            SSL_CTX_use_PrivateKey_file(context_.get(), shown.server.key.c_str(),
                                        SSL_FILETYPE_PEM) == 1,
        "the server's papers");
    host_.spawn("flood", serve());
  }

  [[nodiscard]] std::size_t sent() const noexcept { return sent_; }

 private:
  Task<void> serve() {
    auto stream = co_await listener_->accept();
    if (!stream) co_return;
    ssl_.reset(SSL_new(context_.get()));
    in_ = BIO_new(BIO_s_mem());
    out_ = BIO_new(BIO_s_mem());
    BIO_set_mem_eof_return(in_, -1);
    BIO_set_mem_eof_return(out_, -1);
    SSL_set_bio(ssl_.get(), in_, out_);
    SSL_set_accept_state(ssl_.get());
    while (SSL_do_handshake(ssl_.get()) != 1) {
      const bool heard = co_await hear(stream->get());
      if (!heard) co_return;
    }
    for (std::size_t round = 0; round < manners_.rounds && sent_ < kFlood;) {
      for (; round < manners_.rounds && BIO_ctrl_pending(out_) < kPiece; ++round) add_round();
      const bool sent = co_await send(stream->get());
      if (!sent) co_return;
    }
    co_await host_.sleep_until(host_.now() + 1h);
  }

  void add_round() {
    for (int i = 0; i < manners_.idle; ++i) {
      if (manners_.version == TLS1_3_VERSION) {
        SSL_key_update(ssl_.get(), SSL_KEY_UPDATE_NOT_REQUESTED);
      } else {
        SSL_renegotiate(ssl_.get());
      }
      SSL_do_handshake(ssl_.get());
    }
    const std::string text(manners_.text, 'x');
    if (!text.empty()) SSL_write(ssl_.get(), text.data(), static_cast<int>(text.size()));
  }

  Task<bool> send(Stream* stream) {
    std::string records(BIO_ctrl_pending(out_), '\0');
    BIO_read(out_, records.data(), static_cast<int>(records.size()));
    const runtime::Deadline deadline = host_.deadline_in(1h);
    const auto written = co_await stream->write(records, deadline);
    sent_ += records.size();
    co_return written.has_value();
  }

  Task<bool> hear(Stream* stream) {
    const bool sent = co_await send(stream);
    if (!sent) co_return false;
    std::array<char, 4096> chunk;
    const runtime::Deadline deadline = host_.deadline_in(1h);
    const auto got = co_await stream->read_some(chunk, deadline);
    if (got) BIO_write(in_, chunk.data(), static_cast<int>(*got));
    co_return got.has_value();
  }

  SimRuntime& host_;
  Manners manners_;
  ContextPtr context_;
  std::unique_ptr<Listener> listener_;
  SslPtr ssl_;
  BIO* in_ = nullptr;
  BIO* out_ = nullptr;
  std::size_t sent_ = 0;
  Curfew ends_ = Curfew(host_);
};

struct Heard {
  std::size_t text = 0;
  std::size_t sent = 0;  ///< by the server
  Error ended;
};

Heard listen_to(Manners manners, std::size_t until) {
  World sim(1);
  const auto layer = net::tls::make_tls_layer();
  SimRuntime& us = sim.host("us");
  us.use_tls(*layer);
  FloodServer server(sim.host("server"), papers(), manners);
  auto stream =
      run_task(sim, us,
               us.connect(Endpoint::tls_over_tcp("server", kPort, {.ca = papers().ours.file()}),
                          us.deadline_in(10s)));
  Heard heard;
  if (!stream) {
    heard.ended = stream.error();
    return heard;
  }
  while (heard.text < until) {
    std::array<char, 4096> chunk;
    const auto got = run_task(sim, us, (*stream)->read_some(chunk, us.deadline_in(10s)));
    if (!got) {
      heard.ended = got.error();
      break;
    }
    heard.text += *got;
  }
  heard.sent = server.sent();
  return heard;
}

// A server that asks to negotiate anew without end took 0.88 of a core.
TEST(TlsFlood, RecordsWithoutTextEndTheLook) {
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    const Heard heard = listen_to({.version = version, .idle = 1}, 1);
    EXPECT_EQ(heard.ended.code, Errc::kLimit) << heard.ended.describe();
    EXPECT_LT(heard.sent, 1U << 20) << "long before all of the flood";
  }
}

TEST(TlsFlood, AByteNowAndThenDoesNotBuyMore) {
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    const Heard heard = listen_to({.version = version, .idle = 50, .text = 1}, kFlood);
    EXPECT_EQ(heard.ended.code, Errc::kLimit) << heard.ended.describe();
    EXPECT_LT(heard.text, 1000U);
    EXPECT_LT(heard.sent, 1U << 20);
  }
}

TEST(TlsFlood, ATalkativeServerThatChangesItsKeysIsHeardToTheEnd) {
  const Heard heard = listen_to({.idle = 1, .text = 40, .rounds = 20'000}, 800'000);
  EXPECT_EQ(heard.text, 800'000U) << heard.ended.describe();
  const Heard small = listen_to({.version = TLS1_2_VERSION, .text = 10, .rounds = 20'000}, 200'000);
  EXPECT_EQ(small.text, 200'000U) << small.ended.describe();
}

}  // namespace
}  // namespace wardmote::sim
