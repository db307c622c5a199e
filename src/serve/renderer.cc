#include "serve/renderer.h"

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <boost/json/string.hpp>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/time.h"
#include "runtime/event.h"
#include "runtime/http.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "serve/answer.h"

namespace wardmote::serve {

namespace json = boost::json;
using runtime::HttpResponse;
using runtime::Task;
using namespace std::chrono_literals;

namespace {

constexpr Duration kSlice = 1ms;
/// The pause between two slices, in which other tasks run.
constexpr Duration kPause = 500us;
/// How many times as long as its rendering took an answer is shared with later callers.
constexpr int kKept = 20;
constexpr Duration kOldest = 2s;
constexpr std::size_t kMostJobs = 64;
/// The limit for one path, so that many different queries of one path leave room for other paths.
constexpr std::size_t kMostOfOnePath = 32;
/// The limit for all texts here. Beyond it, finished ones are dropped, and the others are finished
/// one after the other.
constexpr std::size_t kMostBytes = std::size_t{16} << 20;

std::string_view path_of(std::string_view key) {
  return key.substr(0, key.find('?'));
}

HttpResponse too_many() {
  HttpResponse response = error_answer(503, "too many long answers are under way");
  response.headers.emplace_back("Retry-After", "1");
  return response;
}

}  // namespace

bool LongObject::add_piece(std::string& text) {
  if (!begun_) {
    begun_ = true;
    text += json::serialize(head_);
    text.pop_back();
    return true;
  }
  if (list_ == lists_.size()) {
    text += "}\n";
    return false;
  }
  const List& list = lists_[list_];
  if (part_ == 0) {
    if (text.back() != '{') text += ',';
    text += json::serialize(json::string(list.key)) + ":[";
    first_ = true;
  }
  if (part_ < list.parts) {
    for (const json::value& item : list.items(part_)) {
      if (!std::exchange(first_, false)) text += ',';
      text += json::serialize(item);
    }
    ++part_;
  }
  if (part_ >= list.parts) {
    text += ']';
    ++list_;
    part_ = 0;
  }
  return true;
}

struct Renderer::Job {
  Job(const runtime::Executor& executor, std::string named, std::string_view type)
      : key(std::move(named)), content_type(type), done(executor) {}

  std::string key;
  std::string content_type;
  std::unique_ptr<Rendering> rendering;  ///< null: done
  std::string text;
  std::shared_ptr<const std::string> bytes;  ///< the whole text, when it is done
  Duration cost{};
  TimePoint fresh_until;
  runtime::Event done;
  bool dropped = false;
  bool forgotten = false;  ///< removed from `jobs_`
};

class Renderer::Waiting final : public runtime::HttpHold {
 public:
  explicit Waiting(std::shared_ptr<Job> job) : job_(std::move(job)) {}

  Task<std::optional<HttpResponse>> wait() override {
    while (job_->bytes == nullptr && !job_->dropped) co_await job_->done.wait();
    if (job_->dropped) co_return error_answer(503, "the agent ends");
    HttpResponse response;
    response.content_type = job_->content_type;
    response.shared = job_->bytes;
    co_return response;
  }

 private:
  std::shared_ptr<Job> job_;
};

Renderer::Renderer(runtime::Runtime& runtime) : runtime_(runtime), tasks_(runtime.executor()) {}

Renderer::~Renderer() = default;

HttpResponse Renderer::answer(std::string_view content_type, const std::string& key,
                              const Begin& begin) {
  forget_old();
  std::shared_ptr<Job> job;
  if (const auto known = jobs_.find(key); known != jobs_.end()) {
    job = known->second;
  } else {
    if (queue_.size() >= kMostJobs || under_way(path_of(key)) >= kMostOfOnePath) return too_many();
    job = std::make_shared<Job>(runtime_.executor(), key, content_type);
    const TimePoint begun = runtime_.now();
    job->rendering = begin();
    job->cost = runtime_.now() - begun;
    jobs_.emplace(key, job);
    if (!done_at_once(*job)) {
      queue_.push_back(job);
      if (!std::exchange(working_, true)) tasks_.spawn("render answers", work());
    }
  }
  HttpResponse response;
  response.content_type = job->content_type;
  response.shared = job->bytes;
  if (job->bytes == nullptr) response.hold = std::make_shared<Waiting>(job);
  return response;
}

/// Most are short and need not wait for their turn; but many short ones take as long as a long one.
bool Renderer::done_at_once(Job& job) {
  const TimePoint begun = runtime_.now();
  if (working_ || begun < rest_until_) return false;
  const bool done = advance(job);
  const TimePoint now = runtime_.now();
  rest_until_ = now + (now - begun);
  return done;
}

std::size_t Renderer::under_way(std::string_view path) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(queue_, [path](const auto& job) { return path_of(job->key) == path; }));
}

bool Renderer::advance(Job& job) {
  const TimePoint begun = runtime_.now();
  const std::size_t before = job.text.size();
  bool more = true;
  while (more && runtime_.now() - begun <= kSlice) more = job.rendering->add_piece(job.text);
  job.cost += runtime_.now() - begun;
  bytes_ += job.text.size() - before;
  if (more) return false;
  job.rendering.reset();
  job.text.shrink_to_fit();
  job.bytes = std::make_shared<const std::string>(std::move(job.text));
  job.fresh_until = runtime_.now() + std::min(job.cost * kKept, kOldest);
  job.done.notify();
  return true;
}

/// A reader that still receives it holds the text. When many others are asked for, all finished
/// ones are old.
void Renderer::forget_old() {
  const bool many = jobs_.size() >= kMostJobs || bytes_ > kMostBytes;
  for (auto each = jobs_.begin(); each != jobs_.end();) {
    const Job& job = *each->second;
    const bool old = many || runtime_.now() >= job.fresh_until;
    if (job.bytes == nullptr || !old) {
      ++each;
      continue;
    }
    bytes_ -= job.bytes->size();
    each = jobs_.erase(each);
  }
}

/// Those under way are finished for the callers that wait for them.
void Renderer::forget() {
  for (const auto& [key, job] : jobs_) {
    job->forgotten = true;
    if (job->bytes != nullptr) bytes_ -= job->bytes->size();
  }
  jobs_.clear();
}

Task<void> Renderer::work() {
  while (!queue_.empty()) {
    co_await runtime_.sleep_until(runtime_.now() + kPause);
    const std::shared_ptr<Job> job = queue_.front();
    queue_.pop_front();
    if (advance(*job)) {
      if (job->forgotten) bytes_ -= job->bytes->size();
      continue;
    }
    if (bytes_ > kMostBytes) forget_old();
    if (bytes_ > kMostBytes) {
      queue_.push_front(job);
    } else {
      queue_.push_back(job);
    }
  }
  working_ = false;
}

Task<void> Renderer::stop() {
  co_await tasks_.stop();
  for (const std::shared_ptr<Job>& job : queue_) {
    job->dropped = true;
    job->done.notify();
  }
  jobs_.clear();
  queue_.clear();
  bytes_ = 0;
}

HttpResponse rendered_answer(Renderer* renderer, std::string_view content_type,
                             const std::string& key, const Renderer::Begin& begin) {
  if (renderer != nullptr) return renderer->answer(content_type, key, begin);
  HttpResponse response;
  response.content_type = content_type;
  const std::unique_ptr<Rendering> rendering = begin();
  while (rendering->add_piece(response.body)) {
  }
  return response;
}

}  // namespace wardmote::serve
