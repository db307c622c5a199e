#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

namespace wardmote::runtime {

/// Every asynchronous function returns a Task. Awaiting after the task was cancelled throws asio's
/// operation_aborted, which only a TaskGroup catches: a cancellation unwinds the task, and nobody
/// reports it as an error.
template <class T>
using Task = boost::asio::awaitable<T>;

using Executor = boost::asio::any_io_executor;

}  // namespace wardmote::runtime
