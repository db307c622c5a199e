#include "daemon/pod.h"

#include <cstdlib>
#include <string>
#include <string_view>

#include "base/format.h"

namespace wardmote::daemon {
namespace {

std::string variable(const char* name) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nobody sets any
  return value != nullptr ? value : "";
}

}  // namespace

std::string pod_server() {
  return pod_server(variable("KUBERNETES_SERVICE_HOST"), variable("KUBERNETES_SERVICE_PORT"));
}

std::string pod_server(std::string_view host, std::string_view port) {
  if (host.empty() || port.empty()) return {};
  const bool six = host.contains(':');
  return fmt::format("https://{}{}{}:{}", six ? "[" : "", host, six ? "]" : "", port);
}

}  // namespace wardmote::daemon
