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

/// How one side of a TLS connection authenticates, and what it requires of the other side. Always
/// TLS 1.2 or later. Files are PEM; they are read when a connection begins and again when they have
/// changed.
struct TlsSettings {
  enum class Trust : std::uint8_t {
    kChain,         ///< signed by a CA in `ca`, whatever its name is (as Open vSwitch does)
    kChainAndName,  ///< and issued for the name that was asked for
  };

  /// Client: the trusted CAs; empty: those of the system. Server: the CAs of clients, which may
  /// then send a certificate; empty: clients are not asked for one.
  std::string ca;
  std::string
      certificate;  ///< our certificate with its chain; a client sends none when this is empty
  std::string key;  ///< the key of `certificate`; not encrypted
  Trust trust = Trust::kChainAndName;  ///< client only
  std::string server_name;             ///< client: ask for this name, not for the endpoint's host
  std::string protocol;    ///< client: the one to speak (ALPN, RFC 7301), `h2`; at most 255 bytes
  bool only_look = false;  ///< client: continue without trust; TlsPeer::distrust says why

  friend auto operator<=>(const TlsSettings&, const TlsSettings&) = default;
};

/// Who is at the other end of a TLS connection. The peer chooses these texts.
struct TlsPeer {
  std::string version;       ///< `TLSv1.3`
  std::string cipher;        ///< `TLS_AES_256_GCM_SHA384`
  bool certificate = false;  ///< the peer sent a certificate; otherwise all the following is empty
  std::string common_name;   ///< empty when there is none or more than one
  std::string subject;       ///< RFC 2253: `CN=ctl-1,O=Open vSwitch`
  std::string issuer;
  /// Alternative names: `dns:ctl-1.example`, `ip:10.0.0.1`, `uri:spiffe://…`, `email:…`; at
  /// most 64.
  std::vector<std::string> names;
  WallTime not_before;  ///< of its own certificate
  /// When the first certificate of the chain that it sent expires, and which one that is.
  WallTime not_after;
  std::string first_to_expire;
  bool trusted = false;  ///< trusted by the rules of TlsSettings
  Error distrust;        ///< why it is not trusted: kUntrusted or kExpired
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

  /// The client's side, to the end of the handshake; Stream::tls_peer() is then set. kUntrusted: no
  /// CA in `ca` signed the certificate, it has another name, or there is none. kExpired: expired,
  /// or not yet valid. kDenied: the server does not accept our certificate, or wants one (with TLS
  /// 1.3 known only at the first read). kProtocol: the peer does not speak TLS, or there is no
  /// common version or cipher. kTimeout: the handshake did not end by the deadline. kClosed: the
  /// peer closed before the end of the handshake. kInvalid: our own files.
  virtual Task<Result<std::unique_ptr<Stream>>> connect(std::unique_ptr<Stream> over,
                                                        TlsSettings settings, std::string host,
                                                        Deadline deadline) = 0;
  /// The server's side. Returns the stream at once; the stream does the handshake in its first read
  /// or write, by that deadline, so that no client delays another. kInvalid: our own files.
  virtual Result<std::unique_ptr<Stream>> accept(std::unique_ptr<Stream> over,
                                                 TlsSettings settings) = 0;
  /// Whether accept() would succeed now; kInvalid says why not.
  virtual Result<void> can_accept(const TlsSettings& settings) = 0;
};

/// Runtime::connect to an `ssl:` endpoint through `layer`; kInvalid when `layer` is null. A TCP
/// connect without an answer by the deadline is kUnreachable, a handshake that does not end
/// kTimeout.
Task<Result<std::unique_ptr<Stream>>> connect_tls(Runtime* runtime, TlsLayer* layer, Endpoint to,
                                                  Deadline deadline);

/// Runtime::listen at a host and port: `plain` listens there, and `layer` serves TLS on it (null in
/// a program without TLS). change_to() switches between plain and TLS.
Result<std::unique_ptr<Listener>> listen_tcp(std::unique_ptr<Listener> plain, TlsLayer* layer,
                                             const Endpoint& at);

}  // namespace wardmote::runtime
