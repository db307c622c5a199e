#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "act/reconcile/kube_client.h"
#include "base/result.h"
#include "codec/kube_api.h"
#include "runtime/deadline.h"
#include "runtime/task.h"

namespace wardmote::act::reconcile {

/// A kind in a version of an API: what a manifest names.
using KindName = std::pair<std::string, std::string>;  ///< `apps/v1`, `Deployment`

/// The kinds that a server has, as far as somebody asked. A version of an API that the server does
/// not answer for is unknown; it is never taken for one that has no kinds.
class KubeCatalog {
 public:
  enum class Known : std::uint8_t {
    kYes,
    kAbsent,  ///< the server says that there is none
    kUnknown  ///< the server did not say: `complaint()`
  };

  /// Asks for one version of an API, also when it was asked for before.
  runtime::Task<void> learn(KubeClient* client, std::string api_version,
                            runtime::Deadline deadline);

  /// The versions of a group; none: there is no such group. Errors are the client's.
  static runtime::Task<Result<std::vector<std::string>>> versions_of(KubeClient* client,
                                                                     std::string group,
                                                                     runtime::Deadline deadline);

  [[nodiscard]] Known known(const KindName& name) const;
  /// Why the version is unknown.
  [[nodiscard]] std::string complaint(const std::string& api_version) const;
  /// Null: not known(). It is valid until the next learn().
  [[nodiscard]] const codec::KubeResource* find(const KindName& name) const;

 private:
  struct Version {
    Known known = Known::kUnknown;
    std::string complaint;
    std::vector<codec::KubeResource> kinds;
  };
  std::map<std::string, Version> versions_;
};

/// `/api/v1`, `/apis/apps/v1`
std::string api_path(std::string_view api_version);
/// Of all objects of a kind, in all namespaces.
std::string kind_path(const KindName& name, const codec::KubeResource& kind);
/// Of one object; `space` is empty for one that has no namespace.
std::string object_path(const KindName& name, const codec::KubeResource& kind,
                        std::string_view space, std::string_view object);

}  // namespace wardmote::act::reconcile
