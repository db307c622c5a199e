#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "codec/grpc.h"
#include "codec/http2_session.h"
#include "runtime/runtime.h"
#include "support/fake_door.h"
#include "support/http2_bytes.h"

namespace wardmote::testing {

/// A frame that a FakeGrpc writes; where `of_call` is set, on the stream of the call.
struct ScriptedFrame {
  Http2Frame frame;
  bool of_call = true;
};

/// How a FakeGrpc behaves.
struct GrpcManners {
  std::string raw;  ///< written at once after the client has spoken, instead of frames
  std::vector<ScriptedFrame> frames;  ///< for each call, after the SETTINGS
  bool accepts = true;                ///< false: as when it is stopped
  bool endless = false;               ///< writes the frames again and again
  bool hangs_up = false;              ///< after the frames
  std::size_t step = 0;               ///< write in pieces of so many bytes, 100 ms apart
};

/// A gRPC server that answers as told, where a real one cannot be made to misbehave so. Life cycle:
/// outlives the tasks that it gives to `spawn`.
class FakeGrpc {
 public:
  using Spawn = FakeDoor::Spawn;

  FakeGrpc(runtime::Runtime& runtime, Spawn spawn, runtime::Endpoint at, GrpcManners manners)
      : runtime_(runtime),
        manners_(std::move(manners)),
        door_(runtime, std::move(spawn), "fake_grpc", std::move(at),
              [this](auto stream) { return serve(std::move(stream)); }) {
    if (manners_.accepts) door_.open();
  }

  [[nodiscard]] int connections() const noexcept { return door_.connections(); }
  [[nodiscard]] int calls() const noexcept { return calls_; }

  static ScriptedFrame headers(const codec::HeaderFields& fields, bool end = false) {
    return {headers_frame(0, fields, end)};
  }
  static std::vector<ScriptedFrame> serving(char status) {
    return {headers({{":status", "200"}, {"content-type", "application/grpc"}}),
            {{0, 0, 0, codec::encode_grpc_message(std::string{'\x08', status})}},
            headers({{"grpc-status", "0"}}, true)};
  }

 private:
  runtime::Task<void> serve(std::shared_ptr<runtime::Stream> stream) {
    std::string received;
    bool greeted = false;
    for (std::uint32_t call = 1;;) {
      if (!greeted && received.size() >= kHttp2Preface) {
        received.erase(0, kHttp2Preface);
        greeted = true;
      }
      const auto frame = greeted ? take_frame(received) : std::nullopt;
      if (!frame) {
        std::array<char, 4096> chunk;
        const auto got = co_await stream->read_some(chunk, runtime_.deadline_in(kFakePatience));
        if (!got) co_return;
        received.append(chunk.data(), *got);
        continue;
      }
      // The end of a request.
      if (frame->type != 0 || (frame->flags & kEndStream) == 0) continue;
      ++calls_;
      std::string bytes = manners_.raw;
      if (bytes.empty() && call == 1) bytes = encode(Http2Frame{4, 0, 0, {}});
      for (ScriptedFrame scripted : manners_.frames) {
        if (scripted.of_call) scripted.frame.stream = call;
        bytes += encode(scripted.frame);
      }
      call += 2;
      const bool sent = co_await send(stream, bytes);
      if (!sent || manners_.hangs_up) co_return;
    }
  }

  runtime::Task<bool> send(std::shared_ptr<runtime::Stream> stream, std::string bytes) {
    bool sent = false;
    do {
      sent = co_await write_in_pieces(&runtime_, stream, bytes, manners_.step);
    } while (sent && manners_.endless);
    co_return sent;
  }

  runtime::Runtime& runtime_;
  GrpcManners manners_;
  FakeDoor door_;
  int calls_ = 0;
};

}  // namespace wardmote::testing
