#include "act/guests/guest_executor.h"

#include <memory>
#include <optional>
#include <string>

#include "act/plan/step_executor.h"
#include "base/format.h"
#include "base/result.h"
#include "base/time.h"
#include "judge/guest/restart_remedy.h"
#include "runtime/deadline.h"
#include "runtime/hypervisor.h"
#include "runtime/task.h"

namespace wardmote::act::guests {

using judge::guest::RestartOf;
using runtime::Deadline;
using runtime::Task;
using namespace std::chrono_literals;

namespace {

/// libvirt gives a QEMU 15 s to end by itself, and half a minute more to be killed.
constexpr Duration kDestroys = 60s;
constexpr Duration kStarts = 60s;
constexpr Duration kInterrupts = 10s;

}  // namespace

Duration GuestExecutor::patience(const StepRequest& request) const {
  if (request.step == judge::guest::kDestroy) return kDestroys;
  return request.step == judge::guest::kStart ? kStarts : kInterrupts;
}

Task<Result<std::string>> GuestExecutor::act(StepRequest request, Deadline deadline) {
  const std::optional<RestartOf> its = RestartOf::plan(request.plan);
  const std::shared_ptr<runtime::Hypervisor> hypervisor = find_();
  if (!its) co_return fail(Errc::kInvalid, "{} is not understood", request.step);
  if (!hypervisor) co_return fail(Errc::kRefused, "there is no hypervisor to ask any more");
  if (request.step == judge::guest::kInjectNmi) {
    const Result<void> sent = co_await hypervisor->inject_nmi(its->uuid, its->process, deadline);
    if (!sent) co_return with_context(sent, "NMI");
    co_return std::string("an NMI was sent");
  }
  if (request.step == judge::guest::kDestroy) {
    const Result<void> ended = co_await hypervisor->destroy(its->uuid, its->process, deadline);
    if (!ended) co_return with_context(ended, "destroy");
    co_return fmt::format("its process {} was ended", its->process);
  }
  if (request.step == judge::guest::kStart) {
    const Result<void> begun = co_await hypervisor->create(its->uuid, deadline);
    if (!begun) co_return with_context(begun, "start");
    co_return std::string("it was started");
  }
  co_return fail(Errc::kInvalid, "{} is no step that changes a guest", request.step);
}

}  // namespace wardmote::act::guests
