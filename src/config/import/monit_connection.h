#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>

#include "codec/monit_control.h"
#include "config/import/draft.h"
#include "config/import/monit_service.h"

namespace wardmote::config {

/// Options of TLS, of `set ssl` and of a test.
struct MonitTls {
  bool verify = false;      ///< Monit's default
  bool selfsigned = false;  ///< such certificates are good, too
  bool client = false;      ///< it shows a certificate of its own
  bool folder = false;      ///< authorities are in a folder
  std::string ca;           ///< a file of authorities
};

/// Takes what the words say over into `tls`.
void read_monit_tls(std::span<const codec::MonitWord> words, MonitTls& tls);

/// What holds for the tests of all services.
struct MonitDefaults {
  MonitTls tls;
  std::chrono::milliseconds network{5'000};    ///< timeout of a connection
  std::chrono::milliseconds program{300'000};  ///< of a program
};

/// `if failed port …` and `if failed ping …` as a check, without `every`. Nothing, after a note,
/// when no probe of ours looks at that.
std::optional<ImportedCheck> check_of_connection(ImportDraft& draft, const MonitService& service,
                                                 const MonitTest& test,
                                                 const MonitDefaults& defaults);

}  // namespace wardmote::config
