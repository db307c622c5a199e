#pragma once

#include <memory>

#include "net/asio_runtime.h"
#include "runtime/deadline.h"
#include "runtime/http_client.h"
#include "runtime/task.h"

namespace wardmote::net {

/// HTTP/1.1 by libcurl, all requests at once on one thread of its own. What it says of an error
/// names the server but never the path, in which some services carry their secret. Life cycle:
/// outlives what was asked of it; its destructor breaks off what is under way. Thread: the core
/// loop.
class CurlHttpClient final : public runtime::HttpClient {
 public:
  explicit CurlHttpClient(AsioRuntime& runtime);
  ~CurlHttpClient() override;

  runtime::Task<Result<runtime::HttpResponse>> call(runtime::HttpCall call,
                                                    runtime::Deadline deadline) override;

 private:
  class Worker;

  AsioRuntime& runtime_;
  std::unique_ptr<Worker> worker_;
};

}  // namespace wardmote::net
