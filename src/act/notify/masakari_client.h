#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "act/notify/channel.h"
#include "base/time.h"
#include "codec/keystone.h"
#include "judge/notify/notice.h"
#include "runtime/deadline.h"
#include "runtime/http.h"
#include "runtime/http_client.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::act::notify {

/// How to get a token of OpenStack's Keystone. Without a `url` there is none.
struct KeystoneOptions {
  std::string url;             ///< http://keystone:5000/v3
  codec::KeystoneLogin login;  ///< its secret is empty until `secret_file` was read
  std::string secret_file;     ///< absolute: the password, or the credential's secret
  std::string region;          ///< of the catalogue's endpoints; empty: any
  std::string interface;       ///< public, internal or admin
  friend bool operator==(const KeystoneOptions&, const KeystoneOptions&) = default;
};

struct MasakariOptions {
  enum class Type : std::uint8_t { kProcess, kHost, kInstance };

  Type type = Type::kProcess;
  /// of the API, for example http://masakari:15868/v1; empty: from Keystone's catalogue
  std::string url;
  std::string host;        ///< the name in its failover segment; empty: the incident's label `node`
  std::string name_label;  ///< the label whose value names the process, or is the instance's UUID
  std::string microversion;
  KeystoneOptions keystone;
  std::string trust;  ///< a file of CA certificates, for both; empty: whom the system trusts
  friend bool operator==(const MasakariOptions&, const MasakariOptions&) = default;
};

/// A refusal that may end: somebody may change a password or a role. It says `whose` it is.
DeliveryResult for_now(DeliveryResult result, std::string_view whose);

/// Naive UTC, as Masakari's own monitors send it; it would do without a fraction, too.
std::string masakari_time(WallTime at);

/// Access to Masakari's API v1, with a token of Keystone v3, which is renewed when it ends, and
/// once when it is refused.
class MasakariClient {
 public:
  MasakariClient(runtime::Runtime& runtime, runtime::HttpClient& http, MasakariOptions options)
      : runtime_(runtime), http_(http), options_(std::move(options)) {}
  [[nodiscard]] const MasakariOptions& options() const noexcept { return options_; }

  /// Any answer of Masakari, whatever its status is; else why there is none. `path` begins with a
  /// slash; the `body` of a GET is empty.
  using Answer = std::expected<runtime::HttpResponse, judge::notify::Refusal>;
  runtime::Task<Answer> call(std::string method, std::string path, std::string body,
                             runtime::Deadline deadline);

 private:
  struct Ticket {
    std::string token;  ///< secret
    std::string url;
    WallTime expires;
  };

  runtime::Task<Answer> call_once(std::string method, std::string path, std::string body,
                                  runtime::Deadline deadline);
  /// Gets a token into ticket_ if there is none or it ends soon.
  runtime::Task<DeliveryResult> log_in(runtime::Deadline deadline);

  runtime::Runtime& runtime_;
  runtime::HttpClient& http_;
  MasakariOptions options_;
  std::optional<Ticket> ticket_;
};

}  // namespace wardmote::act::notify
