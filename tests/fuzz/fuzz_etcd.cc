// What an etcd server answers: no crash, bounded work, and the same messages in whatever pieces
// they come.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "codec/etcd/messages.h"
#include "codec/grpc.h"
#include "fuzz/fuzz_check.h"

namespace {

using namespace wardmote;

constexpr std::size_t kLongest = 4096;

struct Framed {
  std::vector<std::string> messages;
  std::optional<Error> error;
};

Framed frame(std::string_view bytes, std::size_t step) {
  codec::GrpcFramer framer(kLongest);
  Framed framed;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(step, bytes.size()))) {
    framer.feed(bytes.substr(0, step));
    for (;;) {
      const auto message = framer.next();
      if (!message) {
        framed.error = message.error();
        return framed;
      }
      if (!*message) break;
      FUZZ_CHECK((*message)->size() <= kLongest);
      framed.messages.push_back(**message);
    }
  }
  return framed;
}

void decode(std::string_view message) {
  const auto range = codec::etcd::decode_range(message);
  if (range) FUZZ_CHECK(range->keys.size() <= message.size());
  const auto watch = codec::etcd::decode_watch(message);
  if (watch) FUZZ_CHECK(watch->events.size() <= message.size());
  static_cast<void>(codec::etcd::decode_txn(message));
  static_cast<void>(codec::etcd::decode_lease(message));
  static_cast<void>(codec::etcd::decode_authenticate(message));
  static_cast<void>(codec::etcd::decode_member_list(message));
  const auto status = codec::etcd::decode_status(message);
  if (status) {
    for (const std::string& error : status->errors)
      static_cast<void>(codec::etcd::parse_alarm(error));
  }
  const auto alarm = codec::etcd::parse_alarm(message);
  if (alarm) FUZZ_CHECK(!alarm->name.empty() && alarm->name.size() <= 4 * message.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view input = fuzz::text(data + 1, size - 1);
  const Framed whole = frame(input, input.size() + 1);
  const Framed pieces = frame(input, 1 + data[0] % 64U);
  FUZZ_CHECK(whole.messages == pieces.messages);
  FUZZ_CHECK(whole.error == pieces.error);
  decode(input);
  for (const std::string& message : whole.messages) decode(message);
  return 0;
}
