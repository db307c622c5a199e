#include "net/tls/tls_stream.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/result.h"
#include "net/tls/contexts.h"
#include "net/tls/fault.h"
#include "net/tls/openssl.h"
#include "net/tls/peer.h"
#include "runtime/deadline.h"
#include "runtime/peer.h"
#include "runtime/stream.h"
#include "runtime/task.h"
#include "runtime/tls.h"

namespace wardmote::net::tls {

using runtime::Deadline;
using runtime::Task;
using runtime::TlsSettings;

namespace {

constexpr std::size_t kChunk = 8 << 10;
constexpr std::size_t kRecord = 16 << 10;  // the most text in one record (RFC 8446 5.1)

// Records without text cost us time and the peer nothing: renegotiation requests, key changes,
// warnings. A chain of certificates has at most 100 KiB here (SSL_CTX_set_max_cert_list).
constexpr std::uint64_t kMostOfHandshake = 256 << 10;
constexpr std::uint64_t kMostWithoutText = 64 << 10;
constexpr std::uint64_t kMostForEachByte = 4;

bool is_address(const std::string& host) noexcept {
  in6_addr address{};
  return ::inet_pton(AF_INET, host.c_str(), &address) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), &address) == 1;
}

/// Sets the name to ask for, and the name that the certificate must have.
void ask_for(SSL* ssl, const std::string& name, TlsSettings::Trust trust) {
  const bool address = is_address(name);
  // RFC 6066 3: the server name must not be an address.
  if (!address) SSL_set_tlsext_host_name(ssl, name.c_str());
  if (trust == TlsSettings::Trust::kChain) return;
  X509_VERIFY_PARAM* const param = SSL_get0_param(ssl);
  X509_VERIFY_PARAM_set_hostflags(param, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  if (address) {
    X509_VERIFY_PARAM_set1_ip_asc(param, name.c_str());
  } else {
    X509_VERIFY_PARAM_set1_host(param, name.data(), name.size());
  }
}

/// A server without ALPN is accepted; its first bytes show what it speaks.
void offer(SSL* ssl, const std::string& protocol) {
  if (protocol.empty()) return;
  const std::string offered = static_cast<char>(protocol.size()) + protocol;
  const int failed =
      SSL_set_alpn_protos(ssl, reinterpret_cast<const unsigned char*>(offered.data()),
                          static_cast<unsigned>(offered.size()));
  check(failed == 0, "a protocol for ALPN");
}

int note_request(SSL*, void* asked) {
  *static_cast<bool*>(asked) = true;
  return 1;
}

}  // namespace

TlsStream::TlsStream(std::unique_ptr<runtime::Stream> below, SslPtr ssl, Side side,
                     TlsSettings settings, std::string host)
    : below_(std::move(below)),
      ssl_(std::move(ssl)),
      from_peer_(BIO_new(BIO_s_mem())),
      to_peer_(BIO_new(BIO_s_mem())),
      settings_(std::move(settings)),
      name_(settings_.server_name.empty() ? std::move(host) : settings_.server_name) {
  check(from_peer_ != nullptr && to_peer_ != nullptr, "no memory for TLS");
  BIO_set_mem_eof_return(from_peer_, -1);  // an empty buffer is not the end of the stream
  BIO_set_mem_eof_return(to_peer_, -1);
  SSL_set_bio(ssl_.get(), from_peer_, to_peer_);
  SSL_set_app_data(ssl_.get(), this);
  SSL_set_verify(ssl_.get(), SSL_get_verify_mode(ssl_.get()), verified);
  if (side == Side::kServer) {
    SSL_set_accept_state(ssl_.get());
    return;
  }
  SSL_set_connect_state(ssl_.get());
  SSL_set_cert_cb(ssl_.get(), note_request, &asked_for_ours_);
  ask_for(ssl_.get(), name_, settings_.trust);
  offer(ssl_.get(), settings_.protocol);
}

TlsStream::~TlsStream() {
  close();
}

/// OpenSSL's callback for each certificate of the peer; the first bad one ends the handshake.
int TlsStream::verified(int good, X509_STORE_CTX* by) {
  if (good == 1) return 1;
  const int index = SSL_get_ex_data_X509_STORE_CTX_idx();
  auto* const ssl = static_cast<SSL*>(X509_STORE_CTX_get_ex_data(by, index));
  auto* const stream = static_cast<TlsStream*>(SSL_get_app_data(ssl));
  if (!stream->distrust_) stream->distrust_ = distrust_of(by, stream->settings_, stream->name_);
  return 0;
}

Task<Result<void>> TlsStream::handshake(Deadline deadline) {
  while (!peer_) {
    ERR_clear_error();
    const int done = SSL_do_handshake(ssl_.get());
    const int wants = SSL_get_error(ssl_.get(), done);
    const bool failed = done != 1 && wants != SSL_ERROR_WANT_READ;
    Error error = failed ? fault() : Error{};
    // The alert also tells the peer why we give up.
    const Result<void> sent = co_await send_records(deadline);
    if (failed) co_return std::unexpected(std::move(error));
    if (!sent) co_return std::unexpected(end_of_handshake(sent.error()));
    if (done == 1) {
      peer_ = describe_peer(ssl_.get());
      peer_->trusted = peer_->certificate && !distrust_;
      if (distrust_) peer_->distrust = *distrust_;
      received_ = 0;
      break;
    }
    const Result<void> received = co_await receive_records(deadline);
    if (!received) co_return std::unexpected(end_of_handshake(received.error()));
  }
  co_return Result<void>();
}

Task<Result<void>> TlsStream::ensure_handshake(Deadline deadline) {
  if (peer_) co_return Result<void>();
  Result<void> done = co_await handshake(deadline);
  co_return done;
}

Task<Result<std::size_t>> TlsStream::read_some(std::span<char> into, Deadline deadline) {
  const Result<void> ready = co_await ensure_handshake(deadline);
  if (!ready) co_return std::unexpected(ready.error());
  for (;;) {
    if (broken_) co_return fail(Errc::kClosed, "read");
    ERR_clear_error();
    std::size_t got = 0;
    const int done = SSL_read_ex(ssl_.get(), into.data(), into.size(), &got);
    if (done == 1) {
      answered_ = true;
      delivered_ += got;
      co_return got;
    }
    const int wants = SSL_get_error(ssl_.get(), done);
    if (wants == SSL_ERROR_ZERO_RETURN) co_return fail(Errc::kClosed, "read");
    if (wants != SSL_ERROR_WANT_READ) co_return std::unexpected(fault());
    const Result<void> received = co_await receive_records(deadline);
    if (!received) co_return std::unexpected(end_of_reading(received.error()));
  }
}

Task<Result<void>> TlsStream::write(std::string_view bytes, Deadline deadline) {
  const Result<void> ready = co_await ensure_handshake(deadline);
  if (!ready) co_return std::unexpected(ready.error());
  while (!bytes.empty()) {
    if (broken_) co_return fail(Errc::kClosed, "write");
    ERR_clear_error();
    std::size_t taken = 0;
    const std::size_t size = std::min(bytes.size(), kRecord);
    if (SSL_write_ex(ssl_.get(), bytes.data(), size, &taken) != 1)
      co_return std::unexpected(fault());
    bytes.remove_prefix(taken);
    const Result<void> sent = co_await send_records(deadline);
    if (sent) continue;
    if (sent.error().code != Errc::kClosed) co_return std::unexpected(sent.error());
    const Result<void> heard = co_await hear_last_words(deadline);
    if (!heard) co_return std::unexpected(heard.error());
    co_return std::unexpected(sent.error());
  }
  co_return Result<void>();
}

/// With TLS 1.3 a server rejects our certificate after our handshake has ended, and closes: its
/// alert has arrived, although our write fails.
Task<Result<void>> TlsStream::hear_last_words(Deadline deadline) {
  const Result<void> received = co_await receive_records(deadline);
  if (!received) co_return Result<void>();
  ERR_clear_error();
  char text = 0;
  std::size_t got = 0;
  const int done = SSL_read_ex(ssl_.get(), &text, 1, &got);
  if (done != 1 && SSL_get_error(ssl_.get(), done) == SSL_ERROR_SSL)
    co_return std::unexpected(fault());
  co_return Result<void>();
}

runtime::Peer TlsStream::peer() const {
  runtime::Peer known = below_->peer();
  if (!peer_ || !peer_->trusted) return known;
  known.certificate_names = peer_->names;
  if (!peer_->common_name.empty()) known.certificate_names.push_back("cn:" + peer_->common_name);
  return known;
}

void TlsStream::close() noexcept {
  if (peer_ && !broken_) {
    broken_ = true;
    ERR_clear_error();
    SSL_shutdown(ssl_.get());
    std::array<char, 256> goodbye;
    const int size = BIO_read(to_peer_, goodbye.data(), goodbye.size());
    if (size > 0) below_->write_now({goodbye.data(), static_cast<std::size_t>(size)});
  }
  below_->close();
}

/// Writes all that OpenSSL has for the peer. The reader leaves this to the writer: its answer (a
/// key change) is due only before our next text (RFC 8446 4.6.3).
Task<Result<void>> TlsStream::send_records(Deadline deadline) {
  const std::size_t pending = BIO_ctrl_pending(to_peer_);
  if (pending == 0) co_return Result<void>();
  std::string records(pending, '\0');
  BIO_read(to_peer_, records.data(), static_cast<int>(records.size()));
  Result<void> sent = co_await below_->write(records, deadline);
  co_return sent;
}

Task<Result<void>> TlsStream::receive_records(Deadline deadline) {
  std::array<char, kChunk> chunk;
  const Result<std::size_t> got = co_await below_->read_some(chunk, deadline);
  if (!got) co_return std::unexpected(got.error());
  if (!heard_ && !begins_tls(static_cast<unsigned char>(chunk.front()))) {
    broken_ = true;
    co_return fail(Errc::kProtocol, "what it says is not TLS");
  }
  heard_ = true;
  received_ += *got;
  const std::uint64_t most =
      peer_ ? kMostWithoutText + (kMostForEachByte + 1) * delivered_ : kMostOfHandshake;
  if (received_ > most) {
    broken_ = true;
    co_return fail(Errc::kLimit, "{} bytes of TLS records, and {} of text in them", received_,
                   delivered_);
  }
  BIO_write(from_peer_, chunk.data(), static_cast<int>(*got));
  co_return Result<void>();
}

Error TlsStream::fault() {
  broken_ = true;
  return fault_of({distrust_, asked_for_ours_ && settings_.certificate.empty()});
}

Error TlsStream::end_of_handshake(const Error& error) const {
  const bool silent = error.code == Errc::kClosed && !heard_;
  const bool ours = error.code == Errc::kProtocol || error.code == Errc::kLimit;
  const std::string context = ours ? "TLS: " + error.context : "TLS handshake";
  return {error.code, silent ? context + ": without a word; is TLS spoken there?" : context};
}

/// With TLS 1.3 a client's handshake ends before the server has seen the client's certificate.
Error TlsStream::end_of_reading(const Error& error) const {
  const bool refused = error.code == Errc::kClosed && !answered_ && asked_for_ours_;
  if (!refused) return error;
  if (settings_.certificate.empty())
    return {Errc::kDenied, "TLS: it asked for a certificate of ours, got none, and left"};
  return error;
}

}  // namespace wardmote::net::tls
