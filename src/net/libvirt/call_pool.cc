#include "net/libvirt/call_pool.h"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <expected>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/result.h"
#include "net/libvirt/api.h"

namespace wardmote::net::libvirt {
namespace {

using Clock = std::chrono::steady_clock;

// libvirt gives a connection up after interval * (count + 1) without an answer.
constexpr int kKeepAliveSeconds = 5;
constexpr unsigned kKeepAliveCount = 3;
constexpr auto kOpenAgain = std::chrono::milliseconds(500);

/// One connection that several threads use.
class Link {
 public:
  Link(const Api& api, const std::string& uri) : api_(api), uri_(uri) {}
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;
  ~Link() = default;

  /// Opens it if need be. One that was refused is not opened again for a moment.
  Result<std::shared_ptr<virConnect>> take() {
    const std::scoped_lock lock(mutex_);
    if (connection_) return connection_;
    if (Clock::now() < again_) return std::unexpected(refused_);
    virConnect* const opened = api_.open(uri_.c_str());
    if (opened == nullptr) {
      refused_ = error_of(last_error(api_));
      if (refused_.code == Errc::kClosed) refused_.code = Errc::kUnreachable;
      again_ = Clock::now() + kOpenAgain;
      return std::unexpected(refused_);
    }
    // A driver without a daemon behind it has none, and needs none.
    api_.set_keep_alive(opened, kKeepAliveSeconds, kKeepAliveCount);
    connection_ =
        std::shared_ptr<virConnect>(opened, [api = &api_](virConnect* c) { api->close(c); });
    return connection_;
  }

  /// It broke; whoever still uses it goes on until its calls fail.
  void drop(const std::shared_ptr<virConnect>& broken) {
    const std::scoped_lock lock(mutex_);
    if (connection_ == broken) connection_.reset();
  }

 private:
  const Api& api_;
  const std::string& uri_;
  std::mutex mutex_;
  std::shared_ptr<virConnect> connection_;
  Error refused_;
  Clock::time_point again_;
};

}  // namespace

struct CallPool::State {
  State(const Api& the_api, std::string at, std::size_t connections)
      : api(the_api), uri(std::move(at)) {
    for (std::size_t i = 0; i < connections; ++i) links.push_back(std::make_unique<Link>(api, uri));
  }

  void work(Link& link);

  const Api& api;
  const std::string uri;
  std::vector<std::unique_ptr<Link>> links;
  std::mutex mutex;
  std::condition_variable filled;
  std::deque<std::pair<std::shared_ptr<Ticket>, Work>> waiting;
  std::size_t threads = 0;
  std::size_t idle = 0;
  bool stopping = false;
};

void CallPool::State::work(Link& link) {
  for (;;) {
    std::pair<std::shared_ptr<Ticket>, Work> call;
    {
      std::unique_lock lock(mutex);
      ++idle;
      filled.wait(lock, [this] { return stopping || !waiting.empty(); });
      --idle;
      if (stopping) return;
      call = std::move(waiting.front());
      waiting.pop_front();
    }
    if (!call.first->begin()) continue;
    const Result<std::shared_ptr<virConnect>> connection = link.take();
    Outcome outcome = connection ? call.second(connection->get())
                                 : call.second(std::unexpected(connection.error()));
    if (connection && outcome.broken) link.drop(*connection);
    if (outcome.tell) outcome.tell();
  }
}

CallPool::CallPool(const Api& api, std::string uri, std::size_t connections)
    : state_(std::make_shared<State>(api, std::move(uri), connections)) {}

CallPool::~CallPool() {
  std::deque<std::pair<std::shared_ptr<Ticket>, Work>> dropped;
  {
    const std::scoped_lock lock(state_->mutex);
    state_->stopping = true;
    dropped.swap(state_->waiting);
  }
  state_->filled.notify_all();
}

const Api& CallPool::api() const noexcept {
  return state_->api;
}

bool CallPool::submit(std::shared_ptr<Ticket> ticket, Work work) {
  bool more = false;
  std::size_t number = 0;
  {
    const std::scoped_lock lock(state_->mutex);
    if (state_->waiting.size() >= kMostWaiting) return false;
    state_->waiting.emplace_back(std::move(ticket), std::move(work));
    more = state_->waiting.size() > state_->idle &&
           state_->threads < state_->links.size() * kThreadsEach;
    if (more) number = state_->threads++;
  }
  state_->filled.notify_one();
  if (!more) return true;
  // It shares the state, since a call may hang for longer than the pool lives.
  std::thread([state = state_, number] {
    state->work(*state->links[number / kThreadsEach]);
  }).detach();
  return true;
}

}  // namespace wardmote::net::libvirt
