#include "cli/session.h"

#include <csignal>
#include <utility>

#include "cli/exit_code.h"
#include "net/asio_runtime.h"
#include "net/mbedtls/client_layer.h"
#include "net/signals.h"
#include "runtime/task_group.h"

namespace wardmote::cli {
namespace {

using runtime::Task;
using runtime::TaskGroup;

Task<void> finish(TaskGroup* group, Task<Exit> work, Exit* exit) {
  const Exit result = co_await std::move(work);
  *exit = result;
  group->cancel();
}

Task<void> stop_on_signal(TaskGroup* group, net::AsioRuntime* runtime) {
  net::Signals signals(*runtime, {SIGINT, SIGTERM});
  co_await signals.next();
  group->cancel();
}

Task<void> race(net::AsioRuntime* runtime, Task<Exit> work, Exit* exit) {
  TaskGroup group(runtime->executor());
  group.spawn("verb", finish(&group, std::move(work), exit));
  group.spawn("signals", stop_on_signal(&group, runtime));
  Task<void> joined = group.join();
  co_await std::move(joined);
}

}  // namespace

Session::Session() {
  runtime_.use_tls(net::mbedtls::make_client_layer());
}

Exit Session::run(Task<Exit> work) {
  Exit exit = Exit::kInterrupted;
  runtime_.run(race(&runtime_, std::move(work), &exit));
  return exit;
}

}  // namespace wardmote::cli
