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

struct MasakariOptions {
  enum class Type : std::uint8_t { kProcess, kHost, kInstance };

  Type type = Type::kProcess;
  std::string url;   ///< of the API, for example http://masakari:15868/v1; empty: the catalogue's
  std::string host;  ///< as its failover segment names it
  std::string name_label;  ///< whose value names the process, or is the instance's UUID
  std::string microversion;
  std::string keystone;  ///< http://keystone:5000/v3; empty: no token is needed
  codec::KeystoneLogin login;
  std::string region;
  std::string interface;
  std::string trust;
};

/// Masakari's API v1 (POST /notifications), with a token of Keystone v3, which is renewed when it
/// ends or is refused. Of a process or a host it is told the beginning and the end, of an instance
/// the beginning; of nothing twice, unless it was lost. 202 and 409 are delivered: 409 says that it
/// knows, or that the host is in maintenance. 400 is for ever: the host is in no segment, or the
/// instance is none.
class MasakariChannel final : public Channel {
 public:
  MasakariChannel(runtime::Runtime& runtime, runtime::HttpClient& http, MasakariOptions options)
      : runtime_(runtime), http_(http), options_(std::move(options)) {}
  runtime::Task<Fate> send(judge::notify::Notice notice, runtime::Deadline deadline) override;

 private:
  struct Ticket {
    std::string token;  ///< secret
    std::string url;
    WallTime expires;
  };

  runtime::Task<Fate> send_item(judge::notify::NoticeItem item, runtime::Deadline deadline);
  runtime::Task<Fate> post(std::string body, runtime::Deadline deadline);
  /// Fills in ticket_, if it is not there or about to end.
  runtime::Task<Fate> log_in(runtime::Deadline deadline);
  /// What Masakari is told of it; nothing when that is nothing.
  [[nodiscard]] std::expected<std::optional<std::string>, judge::notify::Refusal> body_of(
      const judge::notify::NoticeItem& item) const;

  runtime::Runtime& runtime_;
  runtime::HttpClient& http_;
  MasakariOptions options_;
  std::optional<Ticket> ticket_;
};

}  // namespace wardmote::act::notify
