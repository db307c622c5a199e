#pragma once

#include <memory>

#include "net/asio_runtime.h"
#include "runtime/deadline.h"
#include "runtime/http_client.h"
#include "runtime/http_lines.h"
#include "runtime/mail_client.h"
#include "runtime/task.h"

namespace wardmote::net {

/// HTTP/1.1 and SMTP by libcurl, for all transfers on one thread of its own. Error texts name the
/// server but never the path, because some services carry their secret in the path. Life cycle:
/// outlives all calls; its destructor aborts the transfers under way. Thread: the core loop.
class CurlHttpClient final : public runtime::HttpClient,
                             public runtime::HttpLines,
                             public runtime::MailClient {
 public:
  explicit CurlHttpClient(AsioRuntime& runtime);
  ~CurlHttpClient() override;

  runtime::Task<Result<runtime::HttpResponse>> call(runtime::HttpCall call,
                                                    runtime::Deadline deadline) override;
  runtime::Task<Result<runtime::HttpResponse>> call_for_line(runtime::HttpCall call,
                                                             runtime::Deadline deadline) override;
  runtime::Task<Result<runtime::MailReceipt>> send(runtime::MailCall call,
                                                   runtime::Deadline deadline) override;

 private:
  class Worker;

  template <class Job, class Call>
  runtime::Task<Result<typename Job::Value>> run(Call call, runtime::Deadline deadline);

  AsioRuntime& runtime_;
  std::unique_ptr<Worker> worker_;
};

}  // namespace wardmote::net
