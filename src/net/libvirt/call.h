#pragma once
// One call to libvirt, made by a thread that may hang in it.

#include <boost/asio/error.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "net/libvirt/api.h"
#include "net/libvirt/call_pool.h"
#include "net/libvirt/event_sink.h"
#include "runtime/deadline.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::net::libvirt {

/// What a call has come to; the loop's.
template <class T>
struct Pending {
  explicit Pending(const runtime::Executor& loop) : timer(loop) {}
  boost::asio::steady_timer timer;
  std::optional<Result<T>> result;
};

/// Makes `work` in `pool` and waits for it until the deadline. kTimeout: it has begun and goes on;
/// kLimit: it did not begin, and never will. `ended` is called on the loop when it is over.
template <class T>
runtime::Task<Result<T>> call(runtime::Runtime* runtime, CallPool* pool,
                              std::shared_ptr<Mailbox> mailbox,
                              std::function<Result<T>(virConnect*, bool&)> work,
                              std::function<void()> ended, runtime::Deadline deadline) {
  const auto pending = std::make_shared<Pending<T>>(runtime->executor());
  const auto ticket = std::make_shared<CallPool::Ticket>();
  // Weak: a thread may hold it for longer than the loop lives, and the timer is of the loop.
  const auto finish = [mailbox, waiter = std::weak_ptr(pending), ended](Result<T> result) {
    mailbox->post([waiter, ended, kept = std::move(result)]() mutable {
      if (const auto waits = waiter.lock()) {
        waits->result = std::move(kept);
        waits->timer.cancel();
      }
      if (ended) ended();
    });
  };
  const bool queued = pool->submit(
      ticket, [finish, work = std::move(work), api = &pool->api()](Result<virConnect*> connection) {
        bool broken = false;
        Result<T> result =
            connection ? work(*connection, broken) : Result<T>(std::unexpected(connection.error()));
        if (!result && connection && is_dead(*api, *connection)) {
          broken = true;
          result = fail(Errc::kClosed, "{}", result.error().context);
        }
        return CallPool::Outcome{
            broken, [finish, result = std::move(result)]() mutable { finish(std::move(result)); }};
      });
  if (!queued) {
    if (ended) ended();
    co_return fail(Errc::kLimit, "libvirt: too many calls wait");
  }
  pending->timer.expires_after(deadline.left(runtime->now()));
  boost::system::error_code woken;
  co_await pending->timer.async_wait(
      boost::asio::redirect_error(boost::asio::use_awaitable, woken));
  if (pending->result) co_return *std::move(pending->result);
  const bool withdrawn = ticket->withdraw();
  if (withdrawn && ended) ended();
  const auto cancellation = co_await boost::asio::this_coro::cancellation_state;
  if (cancellation.cancelled() != boost::asio::cancellation_type::none)
    throw boost::system::system_error(boost::asio::error::operation_aborted);
  if (withdrawn) co_return fail(Errc::kLimit, "libvirt: the call did not begin in time");
  co_return fail(Errc::kTimeout, "libvirt: no answer in time");
}

/// The last error of this thread; `broken`: the connection is to blame.
inline std::unexpected<Error> failed(const Api& api, bool& broken) {
  const LastError last = last_error(api);
  broken = blames_connection(last.code);
  return std::unexpected(error_of(last));
}

inline Result<Domain> look_up(const Api& api, virConnect* connection, const std::string& uuid,
                              bool& broken) {
  Domain domain(api.lookup(connection, uuid.c_str()), {&api});
  if (!domain) return failed(api, broken);
  return domain;
}

}  // namespace wardmote::net::libvirt
