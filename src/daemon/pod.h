#pragma once

#include <string>
#include <string_view>

namespace wardmote::daemon {

/// Where the kubelet puts what a pod's service account needs; it renews the token.
inline constexpr std::string_view kPodToken = "/var/run/secrets/kubernetes.io/serviceaccount/token";
inline constexpr std::string_view kPodTrust =
    "/var/run/secrets/kubernetes.io/serviceaccount/ca.crt";

/// The API server of the cluster in which this program is a pod, as the environment names it:
/// `https://[fd00::1]:443`. Empty: it is no pod.
std::string pod_server();
std::string pod_server(std::string_view host, std::string_view port);

}  // namespace wardmote::daemon
