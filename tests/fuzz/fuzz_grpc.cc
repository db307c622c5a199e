// What comes from a gRPC server: no crash, bounded memory, and the same calls in whatever pieces it
// comes.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "codec/grpc.h"
#include "codec/http2_session.h"
#include "fuzz/fuzz_check.h"

namespace {

using namespace wardmote;

constexpr codec::Http2Limits kLimits{.header_bytes = 2048, .window = 4096};

/// What a client with three calls makes of it: the request of one goes on, one is given up.
struct Seen {
  std::optional<Error> error;
  std::array<codec::Http2Call, 2> calls;
};

std::size_t size_of(const codec::HeaderFields& fields) {
  std::size_t size = 0;
  for (const codec::HeaderField& field : fields) size += field.name.size() + field.value.size();
  return size;
}

Seen hear(std::string_view bytes, std::size_t step) {
  codec::Http2Session session(kLimits);
  const codec::HeaderFields request = codec::grpc_headers("http", "db", "/a/B", Duration(1));
  Seen seen;
  for (int i = 0; i < 3; ++i) {
    const auto call = session.open(request);
    FUZZ_CHECK(call && session.send(*call, std::string(100'000, 'x'), i != 1));
  }
  session.close(5);
  session.take_output();
  for (; !bytes.empty(); bytes.remove_prefix(std::min(step, bytes.size()))) {
    const Result<void> received = session.receive(bytes.substr(0, step));
    const std::string output = session.take_output();
    FUZZ_CHECK(output.size() <= 300'000 + 4 * step);
    for (const int call : {1, 3}) FUZZ_CHECK(session.call(call).data.size() <= kLimits.window);
    if (!received) {
      seen.error = received.error();
      break;
    }
  }
  seen.calls = {session.call(1), session.call(3)};
  FUZZ_CHECK(session.take_data(1) == seen.calls[0].data);
  return seen;
}

bool has_end(const Seen& seen) {
  return std::ranges::any_of(seen.calls, &codec::Http2Call::ended);
}

void read_answer(const codec::Http2Call& call) {
  FUZZ_CHECK(size_of(call.headers) <= kLimits.header_bytes);
  FUZZ_CHECK(size_of(call.trailers) <= kLimits.header_bytes);
  FUZZ_CHECK(!call.failure || call.ended);
  static_cast<void>(codec::check_grpc_headers(call.headers));
  static_cast<void>(codec::find_grpc_status(call.trailers));
  static_cast<void>(codec::parse_health_response(call.data));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view input = fuzz::text(data + 1, size - 1);
  const Seen whole = hear(input, input.size() + 1);
  const Seen pieces = hear(input, 1 + data[0] % 64U);
  // Once nobody waits for anything nghttp2 listens no more; how much it has heard by then depends
  // on the pieces. So does what it hears of a call that it resets: more of it is against the rules
  // only as long as the reset is not on its way.
  if (whole.error.has_value() != pieces.error.has_value())
    FUZZ_CHECK(has_end(whole.error ? pieces : whole));
  for (std::size_t i = 0; i < whole.calls.size() && !whole.error && !pieces.error; ++i) {
    FUZZ_CHECK(whole.calls[i].ended == pieces.calls[i].ended);
    FUZZ_CHECK(whole.calls[i].failure.has_value() == pieces.calls[i].failure.has_value());
    if (whole.calls[i].failure) continue;
    FUZZ_CHECK(whole.calls[i].headers == pieces.calls[i].headers);
    FUZZ_CHECK(whole.calls[i].trailers == pieces.calls[i].trailers);
    FUZZ_CHECK(whole.calls[i].data == pieces.calls[i].data);
  }
  for (const codec::Http2Call& call : whole.calls) read_answer(call);
  static_cast<void>(codec::parse_health_response(input));
  return 0;
}
