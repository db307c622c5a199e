#include "net/curl/http_client.h"

#include <curl/curl.h>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/result.h"
#include "base/time.h"
#include "net/asio_runtime.h"
#include "net/curl/job.h"
#include "net/curl/mail_transfer.h"
#include "net/curl/transfer.h"
#include "runtime/deadline.h"
#include "runtime/http.h"
#include "runtime/http_client.h"
#include "runtime/mail_client.h"
#include "runtime/task.h"

namespace wardmote::net {

namespace asio = boost::asio;
using runtime::Deadline;
using runtime::HttpCall;
using runtime::HttpResponse;
using runtime::MailCall;
using runtime::MailReceipt;
using runtime::Task;

namespace {

constexpr int kLongestPollMs = 1000;

CURLM* make_multi() {
  static const CURLcode kReady = curl_global_init(CURL_GLOBAL_DEFAULT);
  check(kReady == CURLE_OK, "libcurl cannot start");
  return curl_multi_init();
}

}  // namespace

/// The thread that owns all transfers.
class CurlHttpClient::Worker {
 public:
  Worker() : multi_(make_multi()), thread_([this](const std::stop_token& stop) { run(stop); }) {
    check(multi_ != nullptr, "libcurl cannot start");
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker() {
    thread_.request_stop();
    wake();
    thread_.join();
    curl_multi_cleanup(multi_);
  }

  void add(std::unique_ptr<CurlJob> transfer) {
    {
      const std::scoped_lock lock(mutex_);
      added_.push_back(std::move(transfer));
    }
    wake();
  }
  /// From any thread.
  void wake() noexcept { curl_multi_wakeup(multi_); }

 private:
  void run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      take_added();
      end_broken_off(false);
      int running = 0;
      curl_multi_perform(multi_, &running);
      end_done();
      curl_multi_poll(multi_, nullptr, 0, kLongestPollMs, nullptr);
    }
    take_added();
    end_broken_off(true);
  }

  void take_added() {
    std::vector<std::unique_ptr<CurlJob>> added;
    {
      const std::scoped_lock lock(mutex_);
      added.swap(added_);
    }
    for (auto& transfer : added) {
      CURL* const handle = transfer->handle();
      if (handle == nullptr || curl_multi_add_handle(multi_, handle) != CURLM_OK) {
        transfer->finish(CURLE_OUT_OF_MEMORY);
        continue;
      }
      transfers_[handle] = std::move(transfer);
    }
  }

  void end_done() {
    int left = 0;
    while (const CURLMsg* const message = curl_multi_info_read(multi_, &left)) {
      if (message->msg == CURLMSG_DONE) end(message->easy_handle, message->data.result);
    }
  }

  void end_broken_off(bool all) {
    std::vector<CURL*> handles;
    for (const auto& [handle, transfer] : transfers_) {
      if (all) *transfer->broken_off = true;
      if (*transfer->broken_off) handles.push_back(handle);
    }
    for (CURL* const handle : handles) end(handle, CURLE_ABORTED_BY_CALLBACK);
  }

  void end(CURL* handle, CURLcode code) {
    auto node = transfers_.extract(handle);
    curl_multi_remove_handle(multi_, handle);
    if (!node.empty()) node.mapped()->finish(code);
  }

  CURLM* multi_;
  std::map<CURL*, std::unique_ptr<CurlJob>> transfers_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<CurlJob>> added_;
  std::jthread thread_;
};

CurlHttpClient::CurlHttpClient(AsioRuntime& runtime)
    : runtime_(runtime), worker_(std::make_unique<Worker>()) {}
CurlHttpClient::~CurlHttpClient() = default;

Task<Result<HttpResponse>> CurlHttpClient::call(HttpCall call, Deadline deadline) {
  return run<CurlTransfer>(std::move(call), deadline);
}

Task<Result<HttpResponse>> CurlHttpClient::call_for_line(HttpCall call, Deadline deadline) {
  return run<CurlLineTransfer>(std::move(call), deadline);
}

Task<Result<MailReceipt>> CurlHttpClient::send(MailCall call, Deadline deadline) {
  return run<CurlMailTransfer>(std::move(call), deadline);
}

template <class Job, class Call>
Task<Result<typename Job::Value>> CurlHttpClient::run(Call call, Deadline deadline) {
  using Answer = Result<typename Job::Value>;
  const Duration timeout = deadline.left(runtime_.now());
  return asio::async_initiate<const asio::use_awaitable_t<>&, void(Answer)>(
      [this, call = std::move(call), timeout](auto handler) mutable {
        asio::cancellation_slot slot = asio::get_associated_cancellation_slot(handler);
        auto done = [runtime = &runtime_, slot,
                     waiting = std::move(handler)](Answer result) mutable {
          asio::post(runtime->context(),
                     [slot, resume = std::move(waiting), kept = std::move(result)]() mutable {
                       slot.clear();
                       std::move(resume)(std::move(kept));
                     });
        };
        auto job = std::make_unique<Job>(std::move(call), timeout, std::move(done));
        if (slot.is_connected()) {
          slot.assign(
              [worker = worker_.get(), broken_off = job->broken_off](asio::cancellation_type) {
                *broken_off = true;
                worker->wake();
              });
        }
        worker_->add(std::move(job));
      },
      asio::use_awaitable);
}

}  // namespace wardmote::net
