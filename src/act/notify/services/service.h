#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "act/notify/channel.h"
#include "act/notify/secret.h"
#include "judge/notify/notice.h"
#include "runtime/deadline.h"
#include "runtime/http_client.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "store/clock_pair.h"

namespace wardmote::act::notify {

struct Service;

/// A receiver at a service that has an HTTP API of its own.
struct ServiceOptions {
  const Service* service = nullptr;  ///< null in no receiver of a configuration
  std::string url;                   ///< empty while it is only in `url_file`
  Secret url_file;    ///< of an address that is a secret; whoever makes the channel copies it
  Secret token;       ///< the key of the service's API
  std::string to;     ///< a chat, a room, or a team, as the service names it
  std::string text;   ///< a template of the message instead of the usual text
  std::string trust;  ///< a file of CA certificates; empty: whom the system trusts
  friend bool operator==(const ServiceOptions&, const ServiceOptions&) = default;
};

/// A key of a service's map in the configuration. A service without the key has an empty name.
struct ServiceKey {
  std::string_view name = {};
  std::string_view help = {};
  std::string_view example = {};  ///< of a required key; empty: the key is not required
};

/// One HTTP request of a notice.
struct ServiceCall {
  runtime::HttpCall call;
  int also_good = 0;  ///< a status that means delivered, besides 2xx; 0: there is none
};

/// What requests are made of.
struct ServiceNotice {
  const judge::notify::Notice& notice;
  const ServiceOptions& options;
  const store::ClockPair& clock;
};

/// One service: all that configuration, documentation and delivery know of it.
struct Service {
  std::string_view name;  ///< `slack`: its key in the configuration
  std::string_view help;
  ServiceKey url = {};            ///< a web address
  std::string_view its_url = {};  ///< where `url` is absent; empty: `url` or `url_file` is required
  bool url_is_secret = false;     ///< has `url_file` besides
  /// What an address must have besides; empty: nothing is missing. Null: no further rule.
  std::string_view (*url_problem)(std::string_view url) = nullptr;
  ServiceKey token = {};  ///< the absolute path of a file with the key of its API
  ServiceKey to = {};
  bool takes_text = false;  ///< a message for people: has the key `text`
  /// The requests that deliver a notice, in order. Each may be sent twice.
  std::vector<ServiceCall> (*calls)(const ServiceNotice& given);
};

inline constexpr std::size_t kServiceCount = 8;

/// Every service, kServiceCount of them; in the order of the documentation.
std::span<const Service> services() noexcept;

/// Sends a notice to a service. A status means what it means for a webhook. After a refusal that
/// may pass, nothing more is sent, and the whole notice is retried; after one for good, the rest of
/// the notice is still sent.
class ServiceChannel final : public Channel {
 public:
  ServiceChannel(runtime::Runtime& runtime, runtime::HttpClient& http, ServiceOptions options)
      : runtime_(runtime), http_(http), options_(std::move(options)) {}
  runtime::Task<DeliveryResult> send(judge::notify::Notice notice,
                                     runtime::Deadline deadline) override;

 private:
  runtime::Runtime& runtime_;
  runtime::HttpClient& http_;
  ServiceOptions options_;
};

}  // namespace wardmote::act::notify
