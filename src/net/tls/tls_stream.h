#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/tls/contexts.h"
#include "net/tls/openssl.h"
#include "runtime/peer.h"
#include "runtime/stream.h"
#include "runtime/tls.h"

namespace wardmote::net::tls {

/// TLS over another stream: OpenSSL turns text into records and back in memory, and the stream
/// below carries the records, so that deadlines and cancellation work as for any stream. The
/// caller's first read, write or handshake() does the handshake; until it has ended there is one
/// operation at a time, afterwards one reader and one writer. Thread: the core loop.
class TlsStream final : public runtime::Stream {
 public:
  /// `host` is the name that a client asks for; empty on a server.
  TlsStream(std::unique_ptr<runtime::Stream> below, SslPtr ssl, Side side,
            runtime::TlsSettings settings, std::string host);
  /// Sends close_notify, so that the peer knows the end is intended.
  ~TlsStream() override;

  /// The errors of TlsLayer::connect().
  runtime::Task<Result<void>> handshake(runtime::Deadline deadline);

  runtime::Task<Result<std::size_t>> read_some(std::span<char> into,
                                               runtime::Deadline deadline) override;
  runtime::Task<Result<void>> write(std::string_view bytes, runtime::Deadline deadline) override;
  void close() noexcept override;
  [[nodiscard]] runtime::Peer peer() const override;
  [[nodiscard]] const runtime::TlsPeer* tls_peer() const noexcept override {
    return peer_ ? &*peer_ : nullptr;
  }

 private:
  static int verified(int good, X509_STORE_CTX* by);
  runtime::Task<Result<void>> send_records(runtime::Deadline deadline);
  runtime::Task<Result<void>> receive_records(runtime::Deadline deadline);
  runtime::Task<Result<void>> hear_last_words(runtime::Deadline deadline);
  runtime::Task<Result<void>> ensure_handshake(runtime::Deadline deadline);
  [[nodiscard]] Error fault();
  [[nodiscard]] Error end_of_handshake(const Error& error) const;
  [[nodiscard]] Error end_of_reading(const Error& error) const;

  std::unique_ptr<runtime::Stream> below_;
  SslPtr ssl_;
  BIO* from_peer_;  ///< both belong to ssl_
  BIO* to_peer_;
  runtime::TlsSettings settings_;
  std::string name_;
  std::optional<runtime::TlsPeer> peer_;  ///< since the end of the handshake
  std::optional<Error> distrust_;
  bool asked_for_ours_ = false;
  bool heard_ = false;           ///< a record from the peer
  bool answered_ = false;        ///< text from the peer
  bool broken_ = false;          ///< no further record is accepted
  std::uint64_t received_ = 0;   ///< bytes of records; of the handshake, then of what follows
  std::uint64_t delivered_ = 0;  ///< bytes of text
};

}  // namespace wardmote::net::tls
