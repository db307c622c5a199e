// What a server says of a fence that this agent, or somebody else, has put up.
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
#include <cstdint>

#include "codec/kube_fence.h"
#include "codec/kube_object.h"
#include "fuzz/fuzz_check.h"

using namespace wardmote::codec;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto text = wardmote::fuzz::text(data, size);
  static_cast<void>(has_admission_policies(text));
  boost::system::error_code bad;
  const boost::json::value live = boost::json::parse(text, bad);
  if (bad || !live.is_object()) return 0;
  static_cast<void>(read_fence_token(live.get_object()));
  const KubeFenceNames names{.set = "k8s", .space = "kube-system"};
  for (const boost::json::object& wanted : {make_fence_policy(names), make_fence_binding(names)})
    FUZZ_CHECK(!holds(live.get_object(), wanted) || covers(live, wanted));
  return 0;
}
