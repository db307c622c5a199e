#pragma once

#include <boost/json/object.hpp>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

#include "config/import/draft.h"
#include "config/yaml.h"

namespace wardmote::config {

/// A module of blackbox.yml, as far as a check of ours can be it.
struct BlackboxModule {
  std::string name;
  ForeignPlace at;
  std::string prober;          ///< http, tcp, dns, icmp or grpc
  boost::json::object params;  ///< of the check, without what the target says
  boost::json::object tls;     ///< the same of TLS, for targets that have it
  bool with_tls = false;       ///< tcp, grpc
  bool ssl_refused = false;    ///< http: `fail_if_ssl`
  bool ssl_required = false;   ///< http: `fail_if_not_ssl`
  bool fallback = true;        ///< to the other address family
  std::string family;          ///< `ipv4`, `ipv6` or empty
  std::optional<std::chrono::milliseconds> timeout;
};

/// Nothing, after a note, when a check of ours would ask something else.
std::optional<BlackboxModule> read_blackbox_module(ImportDraft& draft, ForeignPlace at,
                                                   const std::string& name, const YamlNode& node);

/// The check of a module and a target; its schedule is up to the caller. Nothing, after a note at
/// the module, when the target is none for it.
std::optional<ImportedCheck> check_of_module(ImportDraft& draft, ForeignPlace at,
                                             const BlackboxModule& module,
                                             const std::string& target);

}  // namespace wardmote::config
