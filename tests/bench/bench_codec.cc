// What reading one answer of an ovsdb-server costs.
#include <benchmark/benchmark.h>

#include <cstring>

#include "codec/json_rpc.h"
#include "codec/ovsdb.h"
#include "codec/raft_status.h"
#include "support/ovn_captures.h"

namespace {

using namespace wardmote;

void parse_status(benchmark::State& state) {
  const std::string text = testing::statuses_of("14-stale-same-address.txt").at(0);
  for (auto _ : state) benchmark::DoNotOptimize(codec::parse_raft_status(text));
  state.SetLabel(fmt::format("{} bytes", text.size()));
}
BENCHMARK(parse_status);

void feed(codec::JsonRpcReader& reader, std::string_view bytes) {
  const std::span<char> room = reader.room();
  std::memcpy(room.data(), bytes.data(), bytes.size());
  reader.received(bytes.size());
}

/// The frame, the JSON and the status in it.
void parse_status_reply(benchmark::State& state) {
  const std::string text = testing::statuses_of("14-stale-same-address.txt").at(0);
  const std::string reply =
      fmt::format(R"({{"id":1,"result":{},"error":null}})", codec::json_string(text));
  codec::JsonRpcReader reader;
  for (auto _ : state) {
    feed(reader, reply);
    const auto message = reader.next();
    benchmark::DoNotOptimize(codec::parse_raft_status((*message)->result->get_string()));
  }
}
BENCHMARK(parse_status_reply);

void parse_row_reply(benchmark::State& state) {
  constexpr std::string_view kReply =
      R"({"id":1,"result":[{"rows":[{"leader":true,"connected":true,"model":"clustered",)"
      R"("sid":["uuid","dea645fa-f66d-419f-89d2-9ef5ed65767e"],)"
      R"("cid":["uuid","b563dad3-5d5e-4b38-a150-859542fb32c9"],"index":4}]}],"error":null})";
  codec::JsonRpcReader reader;
  for (auto _ : state) {
    feed(reader, kReply);
    const auto message = reader.next();
    benchmark::DoNotOptimize(codec::read_server_row(**message));
  }
}
BENCHMARK(parse_row_reply);

}  // namespace

BENCHMARK_MAIN();
