#include "net/patient_files.h"

#include <signal.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "base/result.h"
#include "net/boot_timer.h"
#include "net/core.h"
#include "net/deadline_queue.h"
#include "runtime/deadline.h"
#include "runtime/event.h"
#include "runtime/files.h"
#include "runtime/task.h"

namespace wardmote::net {

using runtime::FileInfo;

/// One call to a path that is under way, for all callers that wait for it.
struct PatientFiles::Question {
  explicit Question(const runtime::Executor& executor) : over(executor) {}

  std::optional<Result<FileInfo>> answer;
  runtime::Event over;
};

/// Shared by the threads, and by the loop until its PatientFiles is destroyed.
class PatientFiles::Threads : public std::enable_shared_from_this<Threads> {
 public:
  using Answered = std::function<void(const std::string& path, Result<FileInfo> answer)>;

  Threads(boost::asio::io_context& context, Answered answered)
      : context_(&context), answered_(std::move(answered)) {}

  /// False when all threads hang.
  bool ask(std::string path) {
    const std::scoped_lock lock(mutex_);
    if (paths_.size() >= idle_ && !begin_thread()) return false;
    paths_.push_back(std::move(path));
    waiting_.notify_one();
    return true;
  }

  /// Drops all waiting callers. Threads whose call returns end.
  void retire() {
    const std::scoped_lock lock(mutex_);
    context_ = nullptr;
    waiting_.notify_all();
  }

 private:
  bool begin_thread() {
    if (threads_ == kMostThreads) return false;
    // Only the loop handles signals.
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    bool begun = true;
    try {
      std::thread([self = shared_from_this()] { self->work(); }).detach();
    } catch (const std::system_error&) {
      begun = false;
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (!begun) return false;
    ++threads_;
    ++idle_;
    return true;
  }

  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      waiting_.wait(lock, [this] { return context_ == nullptr || !paths_.empty(); });
      if (context_ == nullptr) return;
      std::string path = std::move(paths_.front());
      paths_.pop_front();
      --idle_;
      lock.unlock();
      Result<FileInfo> answer = info_of(path);
      lock.lock();
      ++idle_;
      if (context_ == nullptr) return;
      boost::asio::post(*context_, [tell = answered_, asked = std::move(path),
                                    kept = std::move(answer)] { tell(asked, kept); });
    }
  }

  std::mutex mutex_;
  std::condition_variable waiting_;
  boost::asio::io_context* context_;  ///< null: retired
  Answered answered_;
  std::deque<std::string> paths_;
  std::size_t threads_ = 0;
  std::size_t idle_ = 0;  ///< threads that wait for work, or are about to take a path from `paths_`
};

PatientFiles::~PatientFiles() {
  if (threads_) threads_->retire();
}

/// Null when the path cannot be asked.
std::shared_ptr<PatientFiles::Question> PatientFiles::ask(const std::string& path) {
  const auto known = questions_.find(path);
  if (known != questions_.end()) return known->second;
  if (!threads_) {
    threads_ = std::make_shared<Threads>(core_.context,
                                         [this](const std::string& of, Result<FileInfo> answer) {
                                           answered(of, std::move(answer));
                                         });
  }
  if (!threads_->ask(path)) return nullptr;
  auto question = std::make_shared<Question>(core_.context.get_executor());
  questions_.emplace(path, question);
  return question;
}

void PatientFiles::answered(const std::string& path, Result<FileInfo> answer) {
  const auto question = questions_.extract(path);
  if (question.empty()) return;
  question.mapped()->answer = std::move(answer);
  question.mapped()->over.notify();
}

runtime::Task<Result<FileInfo>> PatientFiles::info(std::string path, runtime::Deadline deadline) {
  const std::shared_ptr<Question> question = ask(path);
  if (!question) {
    co_return fail(Errc::kExhausted, "{}: {} other paths do not answer", path, kMostThreads);
  }
  while (!question->answer) {
    if (deadline.passed(SystemBootClock::now()))
      co_return fail(Errc::kTimeout, "{}: its file system does not answer", path);
    const DeadlineQueue::Watch watch(
        core_.deadlines, deadline,
        [](void* event) noexcept { static_cast<runtime::Event*>(event)->notify(); },
        &question->over);
    co_await question->over.wait();
  }
  co_return *question->answer;
}

}  // namespace wardmote::net
