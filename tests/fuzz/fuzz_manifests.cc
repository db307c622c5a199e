// Manifests and kubeconfigs: no crash, bounded work; what was read has what a path needs, and reads
// the same when it is written.
#include <boost/json/serialize.hpp>
#include <string>
#include <string_view>

#include "codec/kube_object.h"
#include "codec/yaml/kubeconfig.h"
#include "codec/yaml/manifests.h"
#include "codec/yaml/yaml_json.h"
#include "fuzz/fuzz_check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace wardmote;
  const std::string_view input = fuzz::text(data, size);
  codec::Manifests manifests;
  codec::read_manifests("a.yaml", input, manifests);
  for (const codec::Manifest& manifest : manifests.objects) {
    const codec::ObjectHead head = codec::read_head(manifest.object);
    FUZZ_CHECK(!head.kind.empty() && !head.name.empty() && !head.name.contains('/'));
    FUZZ_CHECK(codec::covers(manifest.object, manifest.object));
    const std::string text = boost::json::serialize(manifest.object);
    const auto again = codec::read_json(text);
    FUZZ_CHECK(again &&
               codec::digest_of(again->value.get_object()) == codec::digest_of(manifest.object));
  }
  for (const codec::ManifestFault& fault : manifests.faults)
    FUZZ_CHECK(fault.line >= 1 && fault.column >= 1);
  codec::Manifests from_json;
  codec::read_manifests("a.json", input, from_json);
  const auto config = codec::parse_kubeconfig(input, "");
  FUZZ_CHECK(!config || config->server.starts_with("https://"));
  return 0;
}
