// fake_endpoints PORT: on PORT, web servers that answer every GET with 200; on PORT + 1, servers
// that accept and never say a word.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "bench/fake_crowd.h"

namespace {

using wardmote::bench::FakeCrowd;

// As a small exporter of metrics answers, so that Prometheus can be asked to look at it too.
constexpr std::string_view kHead =
    "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 20\r\n";
constexpr std::string_view kBody = "# TYPE a gauge\na 1\n\n";

FakeCrowd::Then answer_web(std::string& received, std::string& reply) {
  if (!received.contains("\r\n\r\n")) return FakeCrowd::Then::kKeepOpen;
  const bool close = received.contains("onnection: close") || received.contains("HTTP/1.0");
  received.clear();
  reply.append(kHead).append(close ? "Connection: close\r\n\r\n" : "\r\n").append(kBody);
  return close ? FakeCrowd::Then::kClose : FakeCrowd::Then::kKeepOpen;
}

FakeCrowd::Then keep_silent(std::string& received, std::string& /*reply*/) {
  received.clear();
  return FakeCrowd::Then::kKeepOpen;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: fake_endpoints PORT\n", stderr);
    return 64;
  }
  const auto port = static_cast<std::uint16_t>(std::strtoul(argv[1], nullptr, 10));
  FakeCrowd crowd;
  crowd.listen_tcp(port, answer_web);
  crowd.listen_tcp(static_cast<std::uint16_t>(port + 1), keep_silent);
  crowd.run();
}
