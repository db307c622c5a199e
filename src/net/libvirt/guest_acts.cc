// What changes a guest, and what is asked before that.

#include <chrono>
#include <cstdlib>
#include <expected>
#include <functional>
#include <string>
#include <utility>

#include "base/result.h"
#include "base/time.h"
#include "codec/domain_xml.h"
#include "net/libvirt/api.h"
#include "net/libvirt/call.h"
#include "net/libvirt/hypervisor.h"
#include "runtime/deadline.h"
#include "runtime/hypervisor.h"
#include "runtime/task.h"

namespace wardmote::net::libvirt {

using runtime::Deadline;
using runtime::GuestStanding;
using runtime::Task;
using namespace std::chrono_literals;

namespace {

/// To start a guest that is off harms nobody.
constexpr Duration kStartBeginsWithin = 60s;

/// What a call on a guest that has changed something tells.
struct Done {};

/// The copy of a disk that is under way; empty: there is none.
Result<std::string> block_job_of(const Api& api, virDomain* domain, bool& broken) {
  char* const xml = api.domain_xml(domain, 0);
  if (xml == nullptr) return failed(api, broken);
  const auto parsed = codec::parse_domain_xml(xml);
  std::free(xml);  // NOLINT(cppcoreguidelines-no-malloc): libvirt's
  if (!parsed) return std::unexpected(parsed.error());
  for (const std::string& disk : parsed->disks) {
    virDomainBlockJobInfo info{};
    const int found = api.block_job(domain, disk.c_str(), &info, 0);
    if (found > 0) return "a block job of " + disk;
    if (found < 0 && last_error(api).code != kNoSupport) return failed(api, broken);
  }
  return std::string();
}

Result<GuestStanding> standing_of(const Api& api, virDomain* domain, bool& broken) {
  GuestStanding now;
  if (api.domain_state(domain, &now.run, &now.reason, 0) < 0) return failed(api, broken);
  const int persistent = api.domain_persistent(domain);
  if (persistent < 0) return failed(api, broken);
  now.persistent = persistent == 1;
  now.id = static_cast<int>(api.domain_id(domain));
  if (now.id < 0) return now;
  virDomainJobInfo job{};
  const int asked = api.domain_job(domain, &job);
  if (asked < 0 && last_error(api).code != kNoSupport) return failed(api, broken);
  if (asked >= 0 && (job.type == kJobBounded || job.type == kJobUnbounded)) {
    now.job = "a migration, a save or a backup";
    return now;
  }
  auto copied = block_job_of(api, domain, broken);
  if (!copied) return std::unexpected(copied.error());
  now.job = *std::move(copied);
  return now;
}

/// Nothing lies between the look at its process and the act. libvirt itself has no call that ends
/// one process and no other.
std::function<Result<Done>(virConnect*, bool&)> act_on(const Api* api, std::string uuid, int id,
                                                       Duration begins_within,
                                                       std::function<int(virDomain*)> act) {
  const auto begins_by = std::chrono::steady_clock::now() + begins_within;
  return [api, uuid = std::move(uuid), id, begins_by, act = std::move(act)](
             virConnect* connection, bool& broken) -> Result<Done> {
    const auto domain = look_up(*api, connection, uuid, broken);
    if (!domain) return std::unexpected(domain.error());
    // libvirtd may have hung meanwhile, and the guest may be another by now.
    if (std::chrono::steady_clock::now() > begins_by)
      return fail(Errc::kInvalid, "libvirt: it was too late: nothing was done");
    const int now = static_cast<int>(api->domain_id(domain->get()));
    if (now != id)
      return fail(Errc::kInvalid, "libvirt: its id is {} by now, and not {}: nothing was done", now,
                  id);
    if (act(domain->get()) < 0) return failed(*api, broken);
    return Done();
  };
}

Result<void> without_value(const Result<Done>& did) {
  if (!did) return std::unexpected(did.error());
  return {};
}

}  // namespace

Task<Result<GuestStanding>> Hypervisor::standing(std::string uuid, Deadline deadline) {
  std::function<Result<GuestStanding>(virConnect*, bool&)> work =
      [api = &api_, uuid = std::move(uuid)](virConnect* connection,
                                            bool& broken) -> Result<GuestStanding> {
    const auto domain = look_up(*api, connection, uuid, broken);
    if (!domain) return std::unexpected(domain.error());
    return standing_of(*api, domain->get(), broken);
  };
  Result<GuestStanding> now =
      co_await call<GuestStanding>(&runtime_, &counting_, mailbox_, std::move(work), {}, deadline);
  co_return now;
}

Task<Result<void>> Hypervisor::inject_nmi(std::string uuid, int id, Deadline deadline) {
  auto work = act_on(&api_, std::move(uuid), id, runtime::kActBeginsWithin,
                     [api = &api_](virDomain* domain) { return api->inject_nmi(domain, 0); });
  const Result<Done> did =
      co_await call<Done>(&runtime_, &acting_, mailbox_, std::move(work), {}, deadline);
  co_return without_value(did);
}

Task<Result<void>> Hypervisor::destroy(std::string uuid, int id, Deadline deadline) {
  auto work = act_on(&api_, std::move(uuid), id, runtime::kActBeginsWithin,
                     [api = &api_](virDomain* domain) { return api->destroy(domain); });
  const Result<Done> did =
      co_await call<Done>(&runtime_, &acting_, mailbox_, std::move(work), {}, deadline);
  co_return without_value(did);
}

Task<Result<void>> Hypervisor::create(std::string uuid, Deadline deadline) {
  auto work = act_on(&api_, std::move(uuid), -1, kStartBeginsWithin,
                     [api = &api_](virDomain* domain) { return api->create(domain); });
  const Result<Done> did =
      co_await call<Done>(&runtime_, &acting_, mailbox_, std::move(work), {}, deadline);
  co_return without_value(did);
}

}  // namespace wardmote::net::libvirt
