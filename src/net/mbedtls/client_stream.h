#pragma once

#include <mbedtls/ctr_drbg.h>
#include <mbedtls/entropy.h>
#include <mbedtls/pk.h>
#include <mbedtls/ssl.h>
#include <mbedtls/x509_crt.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "runtime/deadline.h"
#include "runtime/peer.h"
#include "runtime/stream.h"
#include "runtime/task.h"
#include "runtime/tls.h"

namespace wardmote::net::mbedtls {

/// The client's side of TLS over another stream: mbedTLS turns text into records and back in
/// memory, and the stream below carries the records, so that deadlines and cancellation work as for
/// any stream. Life cycle: set_up(), then handshake(), then it is a Stream. Thread: the core loop.
class ClientStream final : public runtime::Stream {
 public:
  ClientStream(std::unique_ptr<runtime::Stream> below, runtime::TlsSettings settings,
               std::string host);
  ~ClientStream() override;

  /// Reads the files. kInvalid: a file is missing or cannot be used.
  Result<void> set_up();
  /// The errors of TlsLayer::connect().
  runtime::Task<Result<void>> handshake(runtime::Deadline deadline);

  runtime::Task<Result<std::size_t>> read_some(std::span<char> into,
                                               runtime::Deadline deadline) override;
  runtime::Task<Result<void>> write(std::string_view bytes, runtime::Deadline deadline) override;
  void close() noexcept override;
  [[nodiscard]] runtime::Peer peer() const override { return below_->peer(); }
  [[nodiscard]] const runtime::TlsPeer* tls_peer() const noexcept override {
    return peer_ ? &*peer_ : nullptr;
  }

 private:
  static int send(void* self, const unsigned char* bytes, std::size_t size);
  static int receive(void* self, unsigned char* into, std::size_t size);
  static int verify(void* self, mbedtls_x509_crt* certificate, int depth, std::uint32_t* flags);

  Result<void> load_authorities();
  Result<void> load_own();
  runtime::Task<Result<void>> send_records(runtime::Deadline deadline);
  runtime::Task<Result<void>> receive_records(runtime::Deadline deadline);
  [[nodiscard]] Error fault(int code);

  std::unique_ptr<runtime::Stream> below_;
  runtime::TlsSettings settings_;
  std::string name_;
  bool name_is_address_ = false;
  std::string to_peer_;
  std::string from_peer_;
  std::size_t taken_ = 0;  ///< how many bytes of from_peer_ were consumed
  std::optional<runtime::TlsPeer> peer_;
  std::optional<Error> distrust_;
  bool heard_ = false;
  bool broken_ = false;

  mbedtls_entropy_context entropy_{};
  mbedtls_ctr_drbg_context random_{};
  mbedtls_x509_crt authorities_{};
  mbedtls_x509_crt own_{};
  mbedtls_pk_context key_{};
  mbedtls_ssl_config config_{};
  std::array<const char*, 2> protocols_{};  ///< for ALPN; ends with a null
  mbedtls_ssl_context ssl_{};
};

}  // namespace wardmote::net::mbedtls
