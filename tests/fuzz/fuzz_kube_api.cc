// What a kube-apiserver answers, who owns which field included: no crash, and bounded texts.
#include <boost/json/object.hpp>
#include <string_view>

#include "codec/kube_api.h"
#include "codec/kube_ownership.h"
#include "fuzz/fuzz_check.h"

namespace {

using namespace wardmote;

void look_at(const boost::json::object& object) {
  constexpr std::string_view kManager = "wardmote";
  codec::reordered(object, object, kManager);
  const boost::json::object owned = codec::owned_fields(object, kManager);
  codec::holds(object, object, kManager);
  codec::holds(object, owned, kManager);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kLongest = 4096;
  const std::string_view input = fuzz::text(data, size);
  const codec::KubeStatus status = codec::parse_kube_status(input);
  FUZZ_CHECK(status.reason.size() <= kLongest && status.message.size() <= kLongest);
  static_cast<void>(codec::parse_kube_group(input));
  static_cast<void>(codec::is_no_object(input));
  if (const auto resources = codec::parse_kube_resources(input)) {
    for (const codec::KubeResource& one : *resources)
      FUZZ_CHECK(!one.plural.empty() && !one.plural.contains('/'));
  }
  if (const auto list = codec::parse_kube_list(input)) {
    for (const boost::json::object& item : list->items) look_at(item);
  }
  if (const auto event = codec::parse_kube_event(input)) look_at(event->object);
  if (const auto object = codec::parse_kube_object(input)) look_at(*object);
  return 0;
}
