#pragma once

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/format.h"

namespace wardmote::testing {

/// The two files of somebody who can show himself.
struct Identity {
  std::string certificate;
  std::string key;
};

/// What stands in a certificate. Times are from now.
struct CertificateSpec {
  std::string common_name;
  std::string names;  ///< as openssl.cnf writes them: `DNS:ctl-1,IP:10.0.0.1`; may be empty
  std::chrono::seconds begins = std::chrono::hours(-1);
  std::chrono::seconds ends = std::chrono::hours(24);
};

/// A certificate authority that writes its files into a folder.
class Authority {
 public:
  Authority(std::filesystem::path folder, std::string name)
      : folder_(std::move(folder)), key_(make_key()) {
    certificate_ = make({.common_name = std::move(name)}, key_.get(), nullptr);
    file_ = write("ca-" + common_name(),
                  [&](std::FILE* to) { return PEM_write_X509(to, certificate_.get()); });
  }

  /// What those who believe this authority have as their `ca`.
  [[nodiscard]] const std::string& file() const noexcept { return file_; }

  /// `file` names the two files; those of that name are replaced.
  Identity issue(const std::string& file, const CertificateSpec& spec) {
    const Key key = make_key();
    const Certificate certificate = make(spec, key.get(), this);
    return {
        write(file + "-cert", [&](std::FILE* to) { return PEM_write_X509(to, certificate.get()); }),
        write(file + "-key", [&](std::FILE* to) {
          return PEM_write_PrivateKey(to, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
        })};
  }
  Identity issue(const std::string& common_name, const std::string& names = "") {
    return issue(common_name, CertificateSpec{.common_name = common_name, .names = names});
  }

 private:
  struct Free {
    void operator()(EVP_PKEY* key) const noexcept { EVP_PKEY_free(key); }
    void operator()(X509* certificate) const noexcept { X509_free(certificate); }
  };
  using Key = std::unique_ptr<EVP_PKEY, Free>;
  using Certificate = std::unique_ptr<X509, Free>;

  static Key make_key() { return Key(EVP_EC_gen("P-256")); }

  [[nodiscard]] std::string common_name() const {
    char text[64]{};
    X509_NAME_get_text_by_NID(X509_get_subject_name(certificate_.get()), NID_commonName, text,
                              sizeof text);
    return text;
  }

  /// Without an issuer: the authority's own.
  static Certificate make(const CertificateSpec& spec, EVP_PKEY* key, const Authority* issuer) {
    static long serial = 1;
    Certificate made(X509_new());
    X509_set_version(made.get(), X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(made.get()), ++serial);
    X509_gmtime_adj(X509_getm_notBefore(made.get()), spec.begins.count());
    X509_gmtime_adj(X509_getm_notAfter(made.get()), spec.ends.count());
    X509_set_pubkey(made.get(), key);
    X509_NAME* const subject = X509_get_subject_name(made.get());
    const auto* const name = reinterpret_cast<const unsigned char*>(spec.common_name.data());
    X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, name,
                               static_cast<int>(spec.common_name.size()), -1, 0);
    X509_set_issuer_name(made.get(), issuer == nullptr
                                         ? subject
                                         : X509_get_subject_name(issuer->certificate_.get()));
    extend(made.get(), NID_basic_constraints, issuer == nullptr ? "critical,CA:TRUE" : "CA:FALSE");
    if (!spec.names.empty()) extend(made.get(), NID_subject_alt_name, spec.names);
    X509_sign(made.get(), issuer == nullptr ? key : issuer->key_.get(), EVP_sha256());
    return made;
  }

  static void extend(X509* certificate, int kind, const std::string& value) {
    X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, nullptr, kind, value.c_str());
    check(extension != nullptr, "a bad extension in a test");
    X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
  }

  template <class Writer>
  [[nodiscard]] std::string write(const std::string& name, const Writer& writer) const {
    const std::string path = (folder_ / (name + ".pem")).string();
    const std::string fresh = path + ".new";
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(fresh.c_str(), "we"),
                                                               std::fclose);
    check(file != nullptr && writer(file.get()) == 1, "cannot write a certificate");
    std::fflush(file.get());
    std::filesystem::rename(fresh, path);
    return path;
  }

  std::filesystem::path folder_;
  Key key_;
  Certificate certificate_;
  std::string file_;
};

}  // namespace wardmote::testing
