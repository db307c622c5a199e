// What comes from a gRPC server: no crash, bounded work, frames the same in one piece and byte by
// byte.
#include <algorithm>
#include <string_view>
#include <vector>

#include "codec/grpc.h"
#include "codec/hpack.h"
#include "codec/http2.h"
#include "fuzz/fuzz_check.h"

namespace {

using namespace wardmote;

std::vector<codec::Http2Frame> frames_of(std::string_view bytes, std::size_t step) {
  codec::Http2Reader reader;
  std::vector<codec::Http2Frame> frames;
  for (;;) {
    auto frame = reader.next();
    if (!frame) return frames;
    if (*frame) {
      frames.push_back(**std::move(frame));
      continue;
    }
    if (bytes.empty()) return frames;
    const std::span<char> room = reader.room();
    const std::size_t size = std::min({step, bytes.size(), room.size()});
    std::ranges::copy(bytes.substr(0, size), room.begin());
    reader.received(size);
    bytes.remove_prefix(size);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input = fuzz::text(data, size);
  const auto frames = frames_of(input, 4096);
  FUZZ_CHECK(frames == frames_of(input, 1));
  codec::HpackDecoder decoder;
  for (const codec::Http2Frame& frame : frames) {
    const auto content = codec::http2_content(frame);
    if (!content) continue;
    static_cast<void>(codec::parse_health_response(*content));
    const auto fields = decoder.decode(*content);
    if (!fields) break;
    static_cast<void>(codec::check_grpc_headers(*fields));
    static_cast<void>(codec::find_grpc_status(*fields));
  }
  codec::HpackDecoder alone;
  const auto fields = alone.decode(input);
  if (!fields) return 0;
  std::string block;
  for (const codec::HeaderField& field : *fields)
    codec::encode_field(block, field.name, field.value);
  FUZZ_CHECK(codec::HpackDecoder().decode(block) == fields);
  return 0;
}
