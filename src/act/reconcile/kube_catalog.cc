#include "act/reconcile/kube_catalog.h"

#include <algorithm>
#include <expected>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "act/reconcile/kube_client.h"
#include "base/format.h"
#include "base/percent.h"
#include "base/result.h"
#include "codec/kube_api.h"
#include "runtime/deadline.h"
#include "runtime/task.h"

namespace wardmote::act::reconcile {

using codec::KubeResource;
using runtime::Deadline;
using runtime::Task;

namespace {

constexpr int kGood = 200;
constexpr int kNotFound = 404;

}  // namespace

std::string api_path(std::string_view api_version) {
  return fmt::format("/{}/{}", api_version.contains('/') ? "apis" : "api", api_version);
}

std::string kind_path(const KindName& name, const KubeResource& kind) {
  return fmt::format("{}/{}", api_path(name.first), percent_encode_value(kind.plural));
}

std::string object_path(const KindName& name, const KubeResource& kind, std::string_view space,
                        std::string_view object) {
  std::string path = api_path(name.first);
  if (!space.empty()) path += "/namespaces/" + percent_encode_value(space);
  return fmt::format("{}/{}/{}", path, percent_encode_value(kind.plural),
                     percent_encode_value(object));
}

Task<void> KubeCatalog::learn(KubeClient* client, std::string api_version, Deadline deadline) {
  KubeRequest request;
  request.path = api_path(api_version);
  const auto answer = co_await client->ask(std::move(request), deadline);
  Version version;
  if (!answer) {
    version.complaint = answer.error().describe();
  } else if (answer->status == kNotFound) {
    version.known = Known::kAbsent;
  } else if (answer->status != kGood) {
    version.complaint = describe(*answer);
  } else {
    auto kinds = codec::parse_kube_resources(answer->body);
    if (kinds) {
      version.known = Known::kYes;
      version.kinds = *std::move(kinds);
    } else {
      version.complaint = kinds.error().describe();
    }
  }
  // Somebody may be about to write an object of a kind that was known.
  Version& held = versions_[api_version];
  if (version.known != Known::kYes && held.known == Known::kYes) co_return;
  for (KubeResource& kind : held.kinds) {
    if (std::ranges::find(version.kinds, kind.kind, &KubeResource::kind) == version.kinds.end())
      version.kinds.push_back(std::move(kind));
  }
  held = std::move(version);
}

Task<Result<std::vector<std::string>>> KubeCatalog::versions_of(KubeClient* client,
                                                                std::string group,
                                                                Deadline deadline) {
  KubeRequest request;
  request.path = "/apis/" + percent_encode_value(group);
  const auto answer = co_await client->ask(std::move(request), deadline);
  if (!answer) co_return std::unexpected(answer.error());
  if (answer->status == kNotFound) co_return std::vector<std::string>();
  if (answer->status != kGood) co_return fail(Errc::kRejected, "{}", describe(*answer));
  co_return codec::parse_kube_group(answer->body);
}

KubeCatalog::Known KubeCatalog::known(const KindName& name) const {
  const auto found = versions_.find(name.first);
  if (found == versions_.end()) return Known::kUnknown;
  if (found->second.known != Known::kYes) return found->second.known;
  return find(name) == nullptr ? Known::kAbsent : Known::kYes;
}

std::string KubeCatalog::complaint(const std::string& api_version) const {
  const auto found = versions_.find(api_version);
  return found == versions_.end() ? "nobody asked" : found->second.complaint;
}

const KubeResource* KubeCatalog::find(const KindName& name) const {
  const auto found = versions_.find(name.first);
  if (found == versions_.end()) return nullptr;
  for (const KubeResource& kind : found->second.kinds) {
    if (kind.kind == name.second) return &kind;
  }
  return nullptr;
}

}  // namespace wardmote::act::reconcile
