#include "net/mbedtls/client_stream.h"

#include <arpa/inet.h>
#include <mbedtls/error.h>
#include <mbedtls/ssl.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <expected>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/format.h"
#include "base/result.h"
#include "net/mbedtls/certificate.h"
#include "runtime/deadline.h"
#include "runtime/stream.h"
#include "runtime/task.h"
#include "runtime/tls.h"

namespace wardmote::net::mbedtls {

using runtime::Deadline;
using runtime::Stream;
using runtime::Task;
using runtime::TlsSettings;

namespace {

constexpr std::size_t kChunk = 8 << 10;
constexpr const char* kSystemAuthorities = "/etc/ssl/certs/ca-certificates.crt";
/// Whether a TLS conversation can begin with this record type (RFC 8446 5.1): an alert or a
/// handshake.
constexpr unsigned char kAlert = 21;
constexpr unsigned char kHandshake = 22;

std::string reason(int code) {
  std::array<char, 160> text{};
  mbedtls_strerror(code, text.data(), text.size());
  return text.data();
}

bool is_address(const std::string& host) noexcept {
  in6_addr address{};
  return ::inet_pton(AF_INET, host.c_str(), &address) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), &address) == 1;
}

/// Alerts that are about our certificate (RFC 8446 6.2).
bool about_our_certificate(unsigned char alert) noexcept {
  return (alert >= 41 && alert <= 49) || alert == 51 || alert == 116;
}

}  // namespace

ClientStream::ClientStream(std::unique_ptr<Stream> below, TlsSettings settings, std::string host)
    : below_(std::move(below)),
      settings_(std::move(settings)),
      name_(settings_.server_name.empty() ? std::move(host) : settings_.server_name),
      name_is_address_(is_address(name_)) {
  mbedtls_entropy_init(&entropy_);
  mbedtls_ctr_drbg_init(&random_);
  mbedtls_x509_crt_init(&authorities_);
  mbedtls_x509_crt_init(&own_);
  mbedtls_pk_init(&key_);
  mbedtls_ssl_config_init(&config_);
  mbedtls_ssl_init(&ssl_);
}

ClientStream::~ClientStream() {
  close();
  mbedtls_ssl_free(&ssl_);
  mbedtls_ssl_config_free(&config_);
  mbedtls_pk_free(&key_);
  mbedtls_x509_crt_free(&own_);
  mbedtls_x509_crt_free(&authorities_);
  mbedtls_ctr_drbg_free(&random_);
  mbedtls_entropy_free(&entropy_);
}

Result<void> ClientStream::set_up() {
  if (const Result<void> loaded = load_authorities(); !loaded) return loaded;
  if (const Result<void> loaded = load_own(); !loaded) return loaded;
  int code = mbedtls_ctr_drbg_seed(&random_, mbedtls_entropy_func, &entropy_, nullptr, 0);
  if (code == 0) {
    code = mbedtls_ssl_config_defaults(&config_, MBEDTLS_SSL_IS_CLIENT,
                                       MBEDTLS_SSL_TRANSPORT_STREAM, MBEDTLS_SSL_PRESET_DEFAULT);
  }
  if (code != 0) return fail(Errc::kInternal, "TLS: {}", reason(code));
  mbedtls_ssl_conf_rng(&config_, mbedtls_ctr_drbg_random, &random_);
  mbedtls_ssl_conf_min_version(&config_, MBEDTLS_SSL_MAJOR_VERSION_3, MBEDTLS_SSL_MINOR_VERSION_3);
  mbedtls_ssl_conf_authmode(
      &config_, settings_.only_look ? MBEDTLS_SSL_VERIFY_OPTIONAL : MBEDTLS_SSL_VERIFY_REQUIRED);
  mbedtls_ssl_conf_verify(&config_, verify, this);
  mbedtls_ssl_conf_ca_chain(&config_, &authorities_, nullptr);
  if (!settings_.certificate.empty()) code = mbedtls_ssl_conf_own_cert(&config_, &own_, &key_);
  if (!settings_.protocol.empty()) {
    protocols_.front() = settings_.protocol.c_str();
    if (code == 0) code = mbedtls_ssl_conf_alpn_protocols(&config_, protocols_.data());
  }
  if (code == 0) code = mbedtls_ssl_setup(&ssl_, &config_);
  // RFC 6066 3: the server name must not be an address. mbedTLS would look for the address among
  // the DNS names; verify() checks it correctly.
  if (code == 0) code = mbedtls_ssl_set_hostname(&ssl_, name_is_address_ ? nullptr : name_.c_str());
  if (code != 0) return fail(Errc::kInvalid, "TLS: {}", reason(code));
  mbedtls_ssl_set_bio(&ssl_, this, send, receive, nullptr);
  return {};
}

Result<void> ClientStream::load_authorities() {
  const bool own = !settings_.ca.empty();
  const std::string file = own ? settings_.ca : kSystemAuthorities;
  const int code = mbedtls_x509_crt_parse_file(&authorities_, file.c_str());
  // A CA of the system that mbedTLS cannot read is skipped; and no CA is needed where the
  // certificate is only inspected.
  if (code == 0 || (!own && (code > 0 || settings_.only_look))) return {};
  if (code > 0) return fail(Errc::kInvalid, "TLS: {}: {} certificates are unreadable", file, code);
  return fail(Errc::kInvalid, "TLS: {}: {}", file, reason(code));
}

Result<void> ClientStream::load_own() {
  if (settings_.certificate.empty()) return {};
  int code = mbedtls_x509_crt_parse_file(&own_, settings_.certificate.c_str());
  if (code != 0) return fail(Errc::kInvalid, "TLS: {}: {}", settings_.certificate, reason(code));
  code = mbedtls_pk_parse_keyfile(&key_, settings_.key.c_str(), nullptr);
  if (code != 0) return fail(Errc::kInvalid, "TLS: {}: {}", settings_.key, reason(code));
  code = mbedtls_pk_check_pair(&own_.pk, &key_);
  if (code == 0) return {};
  return fail(Errc::kInvalid, "TLS: {} is not the key of {}", settings_.key, settings_.certificate);
}

/// Called for each certificate of the chain, the last one first, with what mbedTLS has found.
int ClientStream::verify(void* self, mbedtls_x509_crt* certificate, int depth,
                         std::uint32_t* flags) {
  auto* const stream = static_cast<ClientStream*>(self);
  if (depth == 0) {
    const bool any_name = stream->settings_.trust == TlsSettings::Trust::kChain;
    if (any_name) *flags &= ~static_cast<std::uint32_t>(MBEDTLS_X509_BADCERT_CN_MISMATCH);
    if (!any_name && stream->name_is_address_ && !is_for_address(*certificate, stream->name_))
      *flags |= MBEDTLS_X509_BADCERT_CN_MISMATCH;
  }
  if (*flags != 0 && !stream->distrust_)
    stream->distrust_ = distrust_of(*certificate, *flags, stream->settings_.ca, stream->name_);
  return 0;
}

Task<Result<void>> ClientStream::handshake(Deadline deadline) {
  for (;;) {
    const int code = mbedtls_ssl_handshake(&ssl_);
    const bool more = code == MBEDTLS_ERR_SSL_WANT_READ || code == MBEDTLS_ERR_SSL_WANT_WRITE;
    // The alert also tells the peer why we give up.
    const Result<void> sent = co_await send_records(deadline);
    if (code != 0 && !more) co_return std::unexpected(fault(code));
    if (!sent) co_return with_context(sent, "TLS handshake");
    if (code == 0) break;
    const Result<void> received = co_await receive_records(deadline);
    if (received) continue;
    const bool silent = received.error().code == Errc::kClosed && !heard_;
    co_return with_context(received, "TLS handshake{}",
                           silent ? ": without a word; is TLS spoken there?" : "");
  }
  peer_ = describe_peer(ssl_);
  peer_->trusted = peer_->certificate && !distrust_;
  if (distrust_) peer_->distrust = *distrust_;
  co_return Result<void>();
}

Task<Result<std::size_t>> ClientStream::read_some(std::span<char> into, Deadline deadline) {
  for (;;) {
    if (broken_) co_return fail(Errc::kClosed, "read");
    const int got =
        mbedtls_ssl_read(&ssl_, reinterpret_cast<unsigned char*>(into.data()), into.size());
    if (got > 0) co_return static_cast<std::size_t>(got);
    if (got == 0 || got == MBEDTLS_ERR_SSL_PEER_CLOSE_NOTIFY) co_return fail(Errc::kClosed, "read");
    const bool more = got == MBEDTLS_ERR_SSL_WANT_READ || got == MBEDTLS_ERR_SSL_WANT_WRITE;
    const Result<void> sent = co_await send_records(deadline);
    if (!more) co_return std::unexpected(fault(got));
    if (!sent) co_return std::unexpected(sent.error());
    const Result<void> received = co_await receive_records(deadline);
    if (!received) co_return std::unexpected(received.error());
  }
}

Task<Result<void>> ClientStream::write(std::string_view bytes, Deadline deadline) {
  while (!bytes.empty()) {
    if (broken_) co_return fail(Errc::kClosed, "write");
    const int taken = mbedtls_ssl_write(&ssl_, reinterpret_cast<const unsigned char*>(bytes.data()),
                                        bytes.size());
    if (taken < 0) co_return std::unexpected(fault(taken));
    bytes.remove_prefix(static_cast<std::size_t>(taken));
    const Result<void> sent = co_await send_records(deadline);
    if (!sent) co_return std::unexpected(sent.error());
  }
  co_return Result<void>();
}

void ClientStream::close() noexcept {
  if (peer_ && !broken_) {
    broken_ = true;
    to_peer_.clear();
    mbedtls_ssl_close_notify(&ssl_);
    below_->write_now(to_peer_);
  }
  below_->close();
}

int ClientStream::send(void* self, const unsigned char* bytes, std::size_t size) {
  auto* const stream = static_cast<ClientStream*>(self);
  stream->to_peer_.append(reinterpret_cast<const char*>(bytes), size);
  return static_cast<int>(size);
}

int ClientStream::receive(void* self, unsigned char* into, std::size_t size) {
  auto* const stream = static_cast<ClientStream*>(self);
  const std::string_view there = std::string_view(stream->from_peer_).substr(stream->taken_);
  if (there.empty()) return MBEDTLS_ERR_SSL_WANT_READ;
  const std::size_t taken = std::min(size, there.size());
  std::memcpy(into, there.data(), taken);
  stream->taken_ += taken;
  return static_cast<int>(taken);
}

Task<Result<void>> ClientStream::send_records(Deadline deadline) {
  if (to_peer_.empty()) co_return Result<void>();
  const std::string records = std::exchange(to_peer_, {});
  Result<void> sent = co_await below_->write(records, deadline);
  co_return sent;
}

/// mbedTLS asks for more bytes only when it has consumed all that arrived.
Task<Result<void>> ClientStream::receive_records(Deadline deadline) {
  std::array<char, kChunk> chunk;
  const Result<std::size_t> got = co_await below_->read_some(chunk, deadline);
  if (!got) co_return std::unexpected(got.error());
  const auto first = static_cast<unsigned char>(chunk.front());
  if (!heard_ && first != kAlert && first != kHandshake) {
    broken_ = true;
    co_return fail(Errc::kProtocol, "what it says is not TLS");
  }
  heard_ = true;
  from_peer_.erase(0, taken_);
  taken_ = 0;
  from_peer_.append(chunk.data(), *got);
  co_return Result<void>();
}

Error ClientStream::fault(int code) {
  broken_ = true;
  if (distrust_) return {distrust_->code, "TLS: " + distrust_->context};
  if (code == MBEDTLS_ERR_SSL_CONN_EOF) return {Errc::kClosed, "TLS"};
  if (code != MBEDTLS_ERR_SSL_FATAL_ALERT_MESSAGE) return {Errc::kProtocol, "TLS: " + reason(code)};
  const unsigned char alert = ssl_.in_msg[1];
  if (!about_our_certificate(alert) &&
      !(alert == MBEDTLS_SSL_ALERT_MSG_HANDSHAKE_FAILURE && ssl_.client_auth != 0)) {
    return {Errc::kProtocol, fmt::format("TLS: it ends with alert {}", alert)};
  }
  return {Errc::kDenied, settings_.certificate.empty() ? "TLS: it wants a certificate of ours"
                                                       : "TLS: it does not accept our certificate"};
}

}  // namespace wardmote::net::mbedtls
