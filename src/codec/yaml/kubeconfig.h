#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace wardmote::codec {

/// Where a kube-apiserver is, and how one proves who one is. Of each pair of file and data, data is
/// taken. Files are as they stand there: relative ones are relative to the kubeconfig.
struct Kubeconfig {
  std::string server;  ///< https://10.0.0.1:6443, without a slash at its end
  std::string ca_file;
  std::string ca;  ///< PEM
  std::string token;
  std::string token_file;
  std::string certificate_file;
  std::string certificate;  ///< PEM
  std::string key_file;
  std::string key;    ///< PEM
  std::string space;  ///< the context's namespace; empty: `default`
};

/// The part of a kubeconfig that `context` names; empty: its current-context. kInvalid says what is
/// missing, or not supported here: `exec` and `auth-provider`, which run programs, user names with
/// passwords, impersonation, `insecure-skip-tls-verify`, `proxy-url`, `tls-server-name`. Pure.
Result<Kubeconfig> parse_kubeconfig(std::string_view bytes, std::string_view context);

}  // namespace wardmote::codec
