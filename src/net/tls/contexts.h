#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <utility>

#include "base/result.h"
#include "net/tls/files.h"
#include "net/tls/openssl.h"
#include "runtime/tls.h"

namespace wardmote::net::tls {

enum class Side : std::uint8_t { kClient, kServer };

/// OpenSSL's contexts, one for each settings in use. A context is made anew when one of its files
/// has changed; while what stands there cannot be loaded (a key that is written after its
/// certificate, say) the former one stays in use, and the log says so once. Connections that stand
/// are not touched. Thread: the core loop.
class Contexts {
 public:
  /// A connection's own SSL object, without a transport yet. kInvalid: the files.
  Result<SslPtr> open(Side side, const runtime::TlsSettings& settings);

 private:
  using Files = std::array<FileIdentity, 3>;
  struct Entry {
    ContextPtr context;
    Files files;
    Files refused;  ///< what was there when the last reload failed
  };
  using Key = std::pair<Side, runtime::TlsSettings>;

  static Result<Files> identify_all(const runtime::TlsSettings& settings);
  Result<SSL_CTX*> current(Side side, const runtime::TlsSettings& settings);
  Result<SSL_CTX*> first_load(const Key& key, const Files& files);
  SSL_CTX* reload(const Key& key, Entry& entry, const Files& files);

  std::map<Key, Entry> entries_;
};

}  // namespace wardmote::net::tls
