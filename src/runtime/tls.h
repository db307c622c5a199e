#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "runtime/deadline.h"
#include "runtime/stream.h"
#include "runtime/task.h"

namespace wardmote::runtime {

class Runtime;
struct Endpoint;

/// How one side of a TLS conversation shows itself and what it asks of the other. TLS 1.2 at least,
/// always. Files are PEM; they are read when a connection begins and again when they have changed.
struct TlsSettings {
  enum class Trust : std::uint8_t {
    kChain,         ///< signed by an authority in `ca`, whatever its name (as Open vSwitch does)
    kChainAndName,  ///< and made for the name that was asked for
  };

  /// Client: the authorities to believe; empty: those of the system. Server: the authorities of
  /// clients, which may then show a certificate; empty: clients are not asked for one.
  std::string ca;
  std::string certificate;  ///< our own with its chain; a client goes without when it is empty
  std::string key;          ///< to `certificate`; not encrypted
  Trust trust = Trust::kChainAndName;  ///< client only
  std::string server_name;             ///< client: ask for this name, not for the endpoint's host
  std::string protocol;    ///< client: the one to speak (ALPN, RFC 7301), `h2`; at most 255 bytes
  bool only_look = false;  ///< client: go on with whoever is there; TlsPeer::distrust tells

  friend auto operator<=>(const TlsSettings&, const TlsSettings&) = default;
};

/// Who is at the other end of a TLS connection. Texts are of the peer's choice.
struct TlsPeer {
  std::string version;       ///< `TLSv1.3`
  std::string cipher;        ///< `TLS_AES_256_GCM_SHA384`
  bool certificate = false;  ///< it showed one; else all that follows is empty
  std::string common_name;   ///< empty when there is none or more than one
  std::string subject;       ///< RFC 2253: `CN=ctl-1,O=Open vSwitch`
  std::string issuer;
  /// Alternative names: `dns:ctl-1.example`, `ip:10.0.0.1`, `uri:spiffe://…`, `email:…`; at
  /// most 64.
  std::vector<std::string> names;
  WallTime not_before;  ///< of its own certificate
  /// The earliest end in the chain that it sent, and of which certificate that is.
  WallTime not_after;
  std::string first_to_expire;
  bool trusted = false;  ///< by what TlsSettings asked for
  Error distrust;        ///< why it is not: kUntrusted or kExpired
};

/// TLS over the streams of any Runtime. Implementation: net/tls. Programs without one (the static
/// command line) answer kInvalid to every `ssl:` endpoint. Life cycle: outlives its streams.
/// Thread: the core loop.
class TlsLayer {
 public:
  TlsLayer() = default;
  TlsLayer(const TlsLayer&) = delete;
  TlsLayer& operator=(const TlsLayer&) = delete;
  virtual ~TlsLayer() = default;

  /// The client's side, to the end of the handshake; Stream::tls_peer() is then there.
  ///
  /// kUntrusted: no authority in `ca` signed it, another name, none shown. kExpired: too old, or
  /// not yet valid. kDenied: the server does not accept our certificate, or wants one (with TLS 1.3
  /// that is known at the first read only). kProtocol: what answers is no TLS, or none in common.
  /// kTimeout: no end of the handshake by the deadline. kClosed: the peer left before it. kInvalid:
  /// our own files.
  virtual Task<Result<std::unique_ptr<Stream>>> connect(std::unique_ptr<Stream> over,
                                                        TlsSettings settings, std::string host,
                                                        Deadline deadline) = 0;
  /// The server's side. The stream is there at once and shakes hands in its first read or write, by
  /// the deadline of that, so that no client delays another. kInvalid: our own files.
  virtual Result<std::unique_ptr<Stream>> accept(std::unique_ptr<Stream> over,
                                                 TlsSettings settings) = 0;
  /// Whether accept() could do so now; kInvalid says why not.
  virtual Result<void> can_accept(const TlsSettings& settings) = 0;
};

/// Runtime::connect to an `ssl:` endpoint by way of `layer`; kInvalid when that is null. A TCP
/// connect that gets no answer by the deadline is kUnreachable, a handshake that does not end
/// kTimeout.
Task<Result<std::unique_ptr<Stream>>> connect_tls(Runtime* runtime, TlsLayer* layer, Endpoint to,
                                                  Deadline deadline);

/// Runtime::listen at a host and port: `plain` listens there, and with TLS `layer` serves it, which
/// may be null where there is none. Its change_to() goes from one to the other.
Result<std::unique_ptr<Listener>> listen_tcp(std::unique_ptr<Listener> plain, TlsLayer* layer,
                                             const Endpoint& at);

}  // namespace wardmote::runtime
