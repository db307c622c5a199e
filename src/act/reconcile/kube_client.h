#pragma once

#include <boost/json/object.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "act/reconcile/kube_login.h"
#include "base/result.h"
#include "base/time.h"
#include "codec/kube_api.h"
#include "runtime/deadline.h"
#include "runtime/http.h"
#include "runtime/http_client.h"
#include "runtime/http_lines.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::act::reconcile {

struct KubeRequest {
  std::string method = "GET";
  std::string path;          ///< with its query
  std::string content_type;  ///< of the body
  std::string body;
  bool writes = false;  ///< it could change something
};

/// Any answer of a server.
struct KubeAnswer {
  int status = 0;
  std::string body;
};

/// Somebody whom the server takes for another user, and his token, which the fence of a set checks
/// (codec/kube_fence.h).
struct KubeActor {
  std::string user;
  std::int64_t token = 0;
  friend bool operator==(const KubeActor&, const KubeActor&) = default;
};

/// `HTTP 403: …`, for people, escaped.
std::string describe(const KubeAnswer& answer);

/// Asks one kube-apiserver. Life cycle: begin() before the first request; what it borrows outlives
/// it. Thread: the core loop.
class KubeClient {
 public:
  KubeClient(runtime::Runtime& runtime, runtime::HttpClient& http, KubeLogin login)
      : runtime_(runtime), http_(http), login_(std::move(login)) {}

  using WriteUntil = std::function<std::optional<TimePoint>()>;

  /// Reads the credentials. `write_until` is asked before each request that writes is sent;
  /// nothing: it is not sent, which is kClosed. Empty: all are.
  runtime::Task<Result<void>> begin(WriteUntil write_until);
  [[nodiscard]] const KubeAccess& access() const noexcept { return access_; }
  /// As whom it asks from now on; nothing: as itself.
  void act_as(std::optional<KubeActor> actor) { actor_ = std::move(actor); }
  [[nodiscard]] const std::optional<KubeActor>& actor() const noexcept { return actor_; }

  /// Any final status is an answer. 429 and 503 are waited for as the server says (Retry-After),
  /// since it did not do what was asked. 401 is asked again with renewed credentials, if there are
  /// any. Only what reads is asked again after 500, 502, 504, or without an answer; an error of
  /// what writes means that nobody knows whether it was done.
  runtime::Task<Result<KubeAnswer>> ask(KubeRequest request, runtime::Deadline deadline);

  struct Listed {
    std::vector<boost::json::object> objects;
    std::string version;  ///< from which a watch goes on
  };
  /// All objects of a kind that `selector` selects, in pages. kDenied, kMissing (no such kind),
  /// kRejected: why the server refuses; kProtocol: nobody can read the answer.
  runtime::Task<Result<Listed>> list(std::string path, std::string selector,
                                     runtime::Deadline deadline);
  /// What happens to such objects after `version`, once something does; nothing: nothing did for
  /// some while. kMissing: nobody remembers `version` any more.
  runtime::Task<Result<std::vector<codec::KubeEvent>>> watch(runtime::HttpLines* lines,
                                                             std::string path, std::string selector,
                                                             std::string version);
  /// Nothing: there is no such object.
  runtime::Task<Result<std::optional<boost::json::object>>> get(std::string path,
                                                                runtime::Deadline deadline);

  /// Whether there is such an object. kMissing: the server does not have the path, so nobody knows.
  runtime::Task<Result<bool>> has(std::string path, runtime::Deadline deadline);

  /// How many requests were sent since begin().
  [[nodiscard]] std::size_t requests() const noexcept { return requests_; }

 private:
  using Answer = Result<runtime::HttpResponse>;

  runtime::Task<Answer> send(KubeRequest request, runtime::Deadline deadline);
  /// How long to wait before the request is sent again; nothing: the answer is final.
  [[nodiscard]] std::optional<Duration> again_after(const KubeRequest& request,
                                                    const Answer& answer, int tries);
  runtime::Task<bool> renew();
  runtime::Task<Result<Listed>> list_pages(std::string path, std::string selector, int limit,
                                           runtime::Deadline deadline);
  [[nodiscard]] runtime::HttpCall call_of(KubeRequest request) const;

  runtime::Runtime& runtime_;
  runtime::HttpClient& http_;
  KubeLogin login_;
  KubeAccess access_;
  std::optional<KubeActor> actor_;
  WriteUntil write_until_;
  std::size_t requests_ = 0;
};

/// Nobody is there, as opposed to an answer that nobody can use.
bool is_silence(Errc code) noexcept;

/// The error that a refusal is: kDenied for 401 and 403, kMissing for 404 and 410, else kRejected.
std::unexpected<Error> refused(const KubeAnswer& answer, std::string_view what);

}  // namespace wardmote::act::reconcile
