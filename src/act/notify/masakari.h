#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <utility>

#include "act/notify/channel.h"
#include "base/time.h"
#include "codec/keystone.h"
#include "judge/notify/notice.h"
#include "runtime/deadline.h"
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

/// Masakari's API v1 (POST /notifications), with a token of Keystone v3, which is renewed when it
/// ends or is refused. Sends the beginning and the end of a process or a host, and the beginning of
/// an instance; nothing twice, unless an answer was lost. 202 and 409 mean delivered: 409 says that
/// Masakari knows, or that the host is in maintenance. 400 is given up: the host is in no segment,
/// or there is no such instance.
class MasakariChannel final : public Channel {
 public:
  MasakariChannel(runtime::Runtime& runtime, runtime::HttpClient& http, MasakariOptions options)
      : runtime_(runtime), http_(http), options_(std::move(options)) {}
  runtime::Task<DeliveryResult> send(judge::notify::Notice notice,
                                     runtime::Deadline deadline) override;

 private:
  struct Ticket {
    std::string token;  ///< secret
    std::string url;
    WallTime expires;
  };

  runtime::Task<DeliveryResult> send_item(judge::notify::NoticeItem item,
                                          runtime::Deadline deadline);
  runtime::Task<DeliveryResult> post(std::string body, runtime::Deadline deadline);
  /// Gets a token into ticket_ if there is none or it ends soon.
  runtime::Task<DeliveryResult> log_in(runtime::Deadline deadline);
  /// The notification for Masakari; nothing when none is to be sent.
  [[nodiscard]] std::expected<std::optional<std::string>, judge::notify::Refusal> body_of(
      const judge::notify::NoticeItem& item) const;

  runtime::Runtime& runtime_;
  runtime::HttpClient& http_;
  MasakariOptions options_;
  std::optional<Ticket> ticket_;
};

}  // namespace wardmote::act::notify
