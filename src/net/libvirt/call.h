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
#include "base/time.h"
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
  std::optional<TimePoint> begun;  ///< when libvirt was asked, as far as the loop knows
};

/// Of a thread that has a connection, or the reason why it has none.
template <class T>
Result<T> ask(const Api& api, const std::function<Result<T>(virConnect*, bool&)>& work,
              const Result<virConnect*>& connection, bool& broken) {
  if (!connection) return std::unexpected(connection.error());
  Result<T> result = work(*connection, broken);
  if (result || !is_dead(api, *connection)) return result;
  broken = true;
  return fail(Errc::kClosed, "{}", result.error().context);
}

/// Makes `work` in `pool` and waits for it until the deadline; with a `patience`, until the
/// deadline for its begin and from then on for so long. kTimeout: it has begun and goes on; kLimit:
/// it did not begin in time. `ended` is called on the loop when it is over.
template <class T>
runtime::Task<Result<T>> call(runtime::Runtime* runtime, CallPool* pool,
                              std::shared_ptr<Mailbox> mailbox,
                              std::function<Result<T>(virConnect*, bool&)> work,
                              std::function<void()> ended, runtime::Deadline deadline,
                              std::optional<Duration> patience = std::nullopt) {
  if (!ended) ended = [] {};
  const auto pending = std::make_shared<Pending<T>>(runtime->executor());
  const auto ticket = std::make_shared<CallPool::Ticket>();
  // Weak: a thread may hold it for longer than the loop lives, and the timer is of the loop.
  const auto finish = [mailbox, waiter = std::weak_ptr(pending), ended](Result<T> result) {
    mailbox->post([waiter, ended, kept = std::move(result)]() mutable {
      if (const auto waits = waiter.lock()) {
        waits->result = std::move(kept);
        waits->timer.cancel();
      }
      ended();
    });
  };
  const auto begin = [mailbox, runtime, waiter = std::weak_ptr(pending)] {
    mailbox->post([waiter, runtime] {
      const auto waits = waiter.lock();
      if (!waits) return;
      waits->begun = runtime->now();
      waits->timer.cancel();
    });
  };
  const bool queued =
      pool->submit(ticket, [begin, finish, tell = patience.has_value(), work = std::move(work),
                            api = &pool->api()](Result<virConnect*> connection) {
        // A connection may take long to open: only now libvirt is asked.
        if (connection && tell) begin();
        bool broken = false;
        Result<T> result = ask<T>(*api, work, connection, broken);
        return CallPool::Outcome{
            broken, [finish, result = std::move(result)]() mutable { finish(std::move(result)); }};
      });
  if (!queued) {
    ended();
    co_return fail(Errc::kLimit, "libvirt: too many calls wait");
  }
  bool cancelled = false;
  for (bool waits = true; waits;) {
    pending->timer.expires_after(deadline.left(runtime->now()));
    boost::system::error_code woken;
    co_await pending->timer.async_wait(
        boost::asio::redirect_error(boost::asio::use_awaitable, woken));
    if (pending->result) co_return *std::move(pending->result);
    const auto asked = co_await boost::asio::this_coro::cancellation_state;
    cancelled = asked.cancelled() != boost::asio::cancellation_type::none;
    waits = !cancelled && patience && pending->begun;
    if (waits) deadline = {*pending->begun + *std::exchange(patience, std::nullopt)};
  }
  const bool withdrawn = ticket->withdraw();
  if (withdrawn) ended();
  if (cancelled) throw boost::system::system_error(boost::asio::error::operation_aborted);
  // A patience that is left did not begin either.
  if (withdrawn || patience) co_return fail(Errc::kLimit, "libvirt: it did not begin in time");
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
