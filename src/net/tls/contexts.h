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

/// OpenSSL's contexts, one for each settings in use. A context is created again when one of its
/// files has changed. If the new files cannot be loaded (for example a key that is written after
/// its certificate), the old context stays in use, and the log says so once. Open connections are
/// not touched. Thread: the core loop.
class Contexts {
 public:
  /// A connection's own SSL object, without a transport yet. kInvalid: the files cannot be used.
  Result<SslPtr> open(Side side, const runtime::TlsSettings& settings);

 private:
  using Files = std::array<FileIdentity, 3>;
  struct Entry {
    ContextPtr context;
    Files files;
    Files refused;  ///< the files at the last failed reload
  };
  using Key = std::pair<Side, runtime::TlsSettings>;

  static Result<Files> identify_all(const runtime::TlsSettings& settings);
  Result<SSL_CTX*> current(Side side, const runtime::TlsSettings& settings);
  Result<SSL_CTX*> first_load(const Key& key, const Files& files);
  SSL_CTX* reload(const Key& key, Entry& entry, const Files& files);

  std::map<Key, Entry> entries_;
};

}  // namespace wardmote::net::tls
