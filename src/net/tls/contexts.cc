#include "net/tls/contexts.h"

#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>

#include <array>
#include <cstddef>
#include <expected>
#include <string>
#include <utility>

#include "base/log.h"
#include "base/result.h"
#include "net/tls/files.h"
#include "net/tls/openssl.h"
#include "runtime/tls.h"

namespace wardmote::net::tls {

using runtime::TlsSettings;

namespace {

/// Settings come from the configuration, and a reload may bring others. No configuration has more.
constexpr std::size_t kMostEntries = 4096;

/// Otherwise OpenSSL would ask for the password of an encrypted key on the terminal.
int no_password(char*, int, int, void*) {
  return -1;
}

std::unexpected<Error> bad_file(const char* what, const std::string& path) {
  const QueuedError error = take_error();
  return fail(Errc::kInvalid, "{} {}: {}", what, path,
              error.text.empty() ? "cannot be used" : error.text);
}

Result<void> load_own(SSL_CTX* context, const TlsSettings& settings) {
  if (settings.certificate.empty() != settings.key.empty())
    return fail(Errc::kInvalid, "a certificate and its key go together; one of them is not given");
  if (settings.certificate.empty()) return {};
  if (SSL_CTX_use_certificate_chain_file(context, settings.certificate.c_str()) != 1)
    return bad_file("certificate", settings.certificate);
  if (SSL_CTX_use_PrivateKey_file(context, settings.key.c_str(), SSL_FILETYPE_PEM) != 1)
    return bad_file("key", settings.key);
  if (SSL_CTX_check_private_key(context) != 1) return bad_file("key", settings.key);
  return {};
}

Result<void> load_authorities(SSL_CTX* context, Side side, const TlsSettings& settings) {
  if (settings.ca.empty()) {
    if (side == Side::kClient && SSL_CTX_set_default_verify_paths(context) != 1)
      return bad_file("ca", "of the system");
    return {};
  }
  if (SSL_CTX_load_verify_file(context, settings.ca.c_str()) != 1)
    return bad_file("ca", settings.ca);
  // Every certificate in the file is trusted, also a CA that another CA signed.
  X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(context), X509_V_FLAG_PARTIAL_CHAIN);
  if (side == Side::kServer)
    SSL_CTX_set_client_CA_list(context, SSL_load_client_CA_file(settings.ca.c_str()));
  return {};
}

void demand(SSL_CTX* context, Side side, const TlsSettings& settings) {
  const bool asks = side == Side::kServer ? !settings.ca.empty() : !settings.only_look;
  SSL_CTX_set_verify(context, asks ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nullptr);
}

Result<ContextPtr> load(Side side, const TlsSettings& settings) {
  ContextPtr context(
      SSL_CTX_new(side == Side::kClient ? TLS_client_method() : TLS_server_method()));
  if (!context) return fail(Errc::kExhausted, "a TLS context: {}", take_error().text);
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_options(context.get(), SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION |
                                         SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_NO_TICKET);
  // A resumed session would keep the trust in an old certificate beyond a reload.
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(context.get(), 0);
  SSL_CTX_set_mode(context.get(), SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_default_passwd_cb(context.get(), no_password);
  if (const Result<void> loaded = load_own(context.get(), settings); !loaded)
    return std::unexpected(loaded.error());
  if (const Result<void> loaded = load_authorities(context.get(), side, settings); !loaded)
    return std::unexpected(loaded.error());
  demand(context.get(), side, settings);
  return context;
}

}  // namespace

Result<SslPtr> Contexts::open(Side side, const TlsSettings& settings) {
  (void)take_error();
  if (side == Side::kServer && settings.certificate.empty())
    return fail(Errc::kInvalid, "a TLS server needs a certificate and a key");
  const Result<SSL_CTX*> context = current(side, settings);
  if (!context) return std::unexpected(context.error());
  SslPtr ssl(SSL_new(*context));
  if (!ssl) return fail(Errc::kExhausted, "a TLS connection: {}", take_error().text);
  return ssl;
}

Result<Contexts::Files> Contexts::identify_all(const TlsSettings& settings) {
  Files files;
  const std::array<std::pair<const char*, const std::string*>, 3> named = {
      {{"ca", &settings.ca}, {"certificate", &settings.certificate}, {"key", &settings.key}}};
  for (std::size_t i = 0; i < named.size(); ++i) {
    const Result<FileIdentity> file = identify(*named[i].second);
    // Not kMissing or kDenied, because callers would report those about the peer.
    if (!file) return fail(Errc::kInvalid, "{} {}", named[i].first, file.error().describe());
    files[i] = *file;
  }
  return files;
}

Result<SSL_CTX*> Contexts::current(Side side, const TlsSettings& settings) {
  const Key key(side, settings);
  const auto known = entries_.find(key);
  // Read before loading: if the files change meanwhile, they differ at the next connection.
  const Result<Files> files = identify_all(settings);
  if (known == entries_.end()) {
    if (!files) return std::unexpected(files.error());
    return first_load(key, *files);
  }
  Entry& entry = known->second;
  if (files && (*files == entry.files || *files == entry.refused)) return entry.context.get();
  return reload(key, entry, files.value_or(Files{}));
}

Result<SSL_CTX*> Contexts::first_load(const Key& key, const Files& files) {
  Result<ContextPtr> context = load(key.first, key.second);
  if (!context) return std::unexpected(context.error());
  if (entries_.size() >= kMostEntries) entries_.clear();
  SSL_CTX* const loaded = context->get();
  entries_[key] = Entry{std::move(*context), files, files};
  return loaded;
}

SSL_CTX* Contexts::reload(const Key& key, Entry& entry, const Files& files) {
  const bool told = files == entry.refused;
  entry.refused = files;
  Result<ContextPtr> context = load(key.first, key.second);
  if (context) {
    entry.context = std::move(*context);
    entry.files = files;
    log(LogLevel::kInfo, "tls_reloaded",
        {{"certificate", key.second.certificate}, {"ca", key.second.ca}});
  } else if (!told) {
    log(LogLevel::kWarning, "tls_reload_failed",
        {{"reason", context.error().describe()}, {"meanwhile", "the former files stay in use"}});
  }
  return entry.context.get();
}

}  // namespace wardmote::net::tls
