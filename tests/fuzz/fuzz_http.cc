// What anybody may send to the API: no crash, bounded memory, the same request however the stream
// is cut, and an answer that is one answer, without anything of ours for whom has no role.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "codec/digest.h"
#include "fuzz/fuzz_check.h"
#include "net/http_message.h"
#include "serve/api.h"
#include "serve/json.h"
#include "serve/lists.h"
#include "serve/raft/cluster_view.h"

namespace {

using namespace wardmote;
using runtime::HttpRequest;
using runtime::HttpResponse;

constexpr runtime::HttpLimits kLimits{.header_bytes = 2048, .body_bytes = 1024};
constexpr std::string_view kSecret = "a-check-that-only-viewers-see";

struct Read {
  bool done = false;
  Result<HttpRequest> request = fail(Errc::kProtocol, "");
};

Read read(std::string_view bytes, std::size_t step) {
  net::HttpRequestReader reader(kLimits);
  std::string received;
  Read read;
  while (!bytes.empty()) {
    received += bytes.substr(0, step);
    bytes.remove_prefix(std::min(step, bytes.size()));
    // As the server does: what is refused by its header has no body.
    if (!reader.feed_header(received)) return read;
    if (reader.body_follows()) {
      const Result<HttpRequest> head = reader.head();
      if (!head) return read;
      FUZZ_CHECK(head->body.empty());
      if (!reader.feed(received)) return read;
    }
    FUZZ_CHECK(received.size() <= kLimits.header_bytes + step);
    if (!reader.done()) continue;
    read.done = true;
    read.request = reader.take();
    return read;
  }
  return read;
}

serve::AgentView view() {
  serve::AgentView view;
  view.now = TimePoint(std::chrono::seconds(1000));
  serve::CheckView check;
  check.name = kSecret;
  check.reason.text = kSecret;
  view.checks.push_back(check);
  return view;
}

void answer(HttpRequest request) {
  static const serve::AgentView kView = view();
  serve::Api api([]() -> const serve::AgentView& { return kView; },
                 {.anonymous = serve::Role::kNone,
                  .tokens = {{"t", serve::Role::kViewer, codec::sha256("0123456789abcdef")}},
                  .certificates = {},
                  .users = {},
                  .groups = {},
                  .hosts = {}});
  for (serve::Route& route : serve::family_routes(serve::kClusterFamily, nullptr))
    api.add(std::move(route));
  request.peer.address = "10.0.0.9:1";
  const bool shows_token = std::ranges::any_of(
      request.headers, [](const auto& one) { return one.second.contains("0123456789abcdef"); });
  if (const auto refusal = api.refuse_unread(request)) FUZZ_CHECK(refusal->status >= 400);
  const HttpResponse response = api.answer(request);
  FUZZ_CHECK(response.status >= 200 && response.status < 600);
  // What is asked for may be quoted.
  const bool asked_for = request.path.contains(kSecret) || request.query.contains("a-check");
  FUZZ_CHECK(shows_token || asked_for || !response.body.contains(kSecret));
  const std::string bytes = net::encode_response(response, {});
  const std::size_t end = bytes.find("\r\n\r\n");
  FUZZ_CHECK(bytes.size() - end - 4 == response.body.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const Read whole = read(bytes, bytes.size() + 1);
  const Read cut = read(bytes, 1 + *data % 16U);
  // Whether a header at its limit still passes may depend on the cuts.
  if (bytes.size() <= kLimits.body_bytes) {
    FUZZ_CHECK(cut.done == whole.done);
    FUZZ_CHECK(cut.request.has_value() == whole.request.has_value());
  }
  if (cut.request && whole.request) {
    FUZZ_CHECK(cut.request->path == whole.request->path);
    FUZZ_CHECK(cut.request->body == whole.request->body);
    FUZZ_CHECK(cut.request->headers == whole.request->headers);
  }
  if (!whole.request) return 0;
  answer(*whole.request);
  return 0;
}
