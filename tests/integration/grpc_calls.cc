// Makes gRPC calls on one connection, all at once, as a client of real servers: lines of "PATH HEX"
// on standard input, HEX the message; for each a line with its status, the size of the data that
// came and its SHA-256. Usage: grpc_calls HOST:PORT
#include <chrono>
#include <expected>
#include <iostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/text.h"
#include "codec/digest.h"
#include "codec/grpc.h"
#include "codec/http2_session.h"
#include "net/asio_runtime.h"
#include "runtime/http2_connection.h"

namespace wardmote {
namespace {

using namespace std::chrono_literals;
using codec::Http2Session;
using runtime::Deadline;
using runtime::Http2Connection;

struct Call {
  std::string path;
  std::string message;
  Http2Session::CallId id = 0;
  std::string data;
};

std::string bytes_of(std::string_view hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes += static_cast<char>(parse_number<int>(hex.substr(i, 2), 16).value());
  return bytes;
}

bool all_ended(Http2Session& session, std::vector<Call>& calls) {
  bool ended = true;
  for (Call& call : calls) {
    call.data += session.take_data(call.id);
    ended = ended && session.call(call.id).ended;
  }
  return ended;
}

runtime::Task<Result<void>> make(Http2Connection* connection, std::string authority,
                                 std::vector<Call>* calls, Deadline deadline) {
  Http2Session& session = connection->session();
  for (Call& call : *calls) {
    const auto id = session.open(codec::grpc_headers("http", authority, call.path, 10s));
    if (!id) co_return std::unexpected(id.error());
    call.id = *id;
    const auto queued = session.send(*id, codec::encode_grpc_message(call.message), true);
    if (!queued) co_return queued;
  }
  while (!all_ended(session, *calls)) {
    const Result<void> received = co_await connection->receive(deadline);
    if (!received) co_return received;
  }
  co_return Result<void>();
}

std::string show(const codec::Http2Call& seen, const Call& call) {
  if (seen.failure) return seen.failure->describe();
  const auto status = codec::find_grpc_status(seen.trailers.empty() ? seen.headers : seen.trailers);
  const std::int64_t code = status && *status ? (*status)->code : -1;
  return fmt::format("{} {} {}", code, call.data.size(), codec::hex(codec::sha256(call.data)));
}

int run(const std::string& address) {
  std::vector<Call> calls;
  for (std::string line; std::getline(std::cin, line);) {
    std::string_view rest = line;
    const std::string_view path = take_until(rest, ' ');
    calls.push_back({std::string(path), bytes_of(rest), 0, {}});
  }
  net::AsioRuntime runtime;
  const auto at = runtime::parse_endpoint(address);
  if (!at) return 1;
  const Deadline deadline = runtime.deadline_in(10s);
  auto stream = run_task(runtime, runtime.connect(*at, deadline));
  if (!stream) return 1;
  Http2Connection connection(runtime, *std::move(stream));
  const Result<void> made = run_task(runtime, make(&connection, address, &calls, deadline));
  if (!made) {
    std::cerr << made.error().describe() << '\n';
    return 1;
  }
  for (const Call& call : calls)
    std::cout << show(connection.session().call(call.id), call) << '\n';
  return 0;
}

}  // namespace
}  // namespace wardmote

int main(int argc, char** argv) {
  return argc == 2 ? wardmote::run(argv[1]) : 64;
}
