#include "net/libvirt/event_sink.h"

#include <array>
#include <boost/asio/post.hpp>
#include <cstddef>
#include <expected>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "net/libvirt/api.h"
#include "runtime/hypervisor.h"

namespace wardmote::net::libvirt {
namespace {

using runtime::HypervisorEvent;

/// What libvirt holds of a listener, until it releases it.
struct Listener {
  const Api* api;
  std::shared_ptr<Mailbox> mailbox;
  HearEvent hear;

  void tell(HypervisorEvent event) const {
    mailbox->post([hear = hear, told = std::move(event)]() mutable { hear(std::move(told)); });
  }
  /// The callbacks run on libvirt's loop, and must not ask the same connection anything.
  template <class What>
  void tell_of(virDomain* domain, What what) const {
    std::array<char, 37> uuid{};
    api->domain_uuid(domain, uuid.data());
    tell(
        {.uuid = uuid.data(), .name = api->domain_name(domain), .at = {}, .what = std::move(what)});
  }
};

const Listener& from(void* opaque) {
  return *static_cast<const Listener*>(opaque);
}

void release(void* opaque) {
  delete static_cast<Listener*>(opaque);
}

std::string words(const char* text) {
  return text == nullptr ? std::string() : std::string(text);
}

void on_lifecycle(virConnect*, virDomain* domain, int event, int detail, void* opaque) {
  from(opaque).tell_of(domain, HypervisorEvent::Lifecycle{event, detail});
}
void on_reboot(virConnect*, virDomain* domain, void* opaque) {
  from(opaque).tell_of(domain, HypervisorEvent::Reboot{});
}
void on_watchdog(virConnect*, virDomain* domain, int action, void* opaque) {
  from(opaque).tell_of(domain, HypervisorEvent::Watchdog{action});
}
void on_io_error(virConnect*, virDomain* domain, const char*, const char* device, int action,
                 const char* reason, void* opaque) {
  from(opaque).tell_of(domain, HypervisorEvent::IoError{action, words(device), words(reason)});
}
void on_control_error(virConnect*, virDomain* domain, void* opaque) {
  from(opaque).tell_of(domain, HypervisorEvent::ControlError{});
}
void on_agent(virConnect*, virDomain* domain, int state, int, void* opaque) {
  from(opaque).tell_of(domain, HypervisorEvent::Agent{.connected = state == 1});
}
void on_migration(virConnect*, virDomain* domain, int, void* opaque) {
  from(opaque).tell_of(domain, HypervisorEvent::Migrating{});
}
void on_job(virConnect*, virDomain* domain, virTypedParameter*, int, void* opaque) {
  from(opaque).tell_of(domain, HypervisorEvent::JobCompleted{});
}
void on_metadata(virConnect*, virDomain* domain, int, const char*, void* opaque) {
  from(opaque).tell_of(domain, HypervisorEvent::Changed{});
}

/// virConnectCloseReason
void on_close(virConnect*, int reason, void* opaque) {
  constexpr std::array kReasons = {"an error", "end of file", "no answer to keepalive", "our own"};
  const bool known = reason >= 0 && reason < static_cast<int>(kReasons.size());
  Error why{Errc::kClosed, std::string("libvirt: the connection ended: ") +
                               (known ? kReasons.at(static_cast<std::size_t>(reason)) : "unknown")};
  from(opaque).tell(
      {.uuid = {}, .name = {}, .at = {}, .what = HypervisorEvent::Lost{std::move(why)}});
}

struct Row {
  int id;  ///< virDomainEventID
  virConnectDomainEventGenericCallback call;
};

/// As VIR_DOMAIN_EVENT_CALLBACK does it.
template <class Callback>
virConnectDomainEventGenericCallback generic(Callback callback) {
  return reinterpret_cast<virConnectDomainEventGenericCallback>(callback);
}

std::vector<Row> rows() {
  return {{0, generic(on_lifecycle)},  {1, generic(on_reboot)},        {3, generic(on_watchdog)},
          {6, generic(on_io_error)},   {7, generic(on_control_error)}, {18, generic(on_agent)},
          {20, generic(on_migration)}, {21, generic(on_job)},          {23, generic(on_metadata)}};
}

}  // namespace

void Mailbox::post(std::move_only_function<void()> letter) {
  const std::scoped_lock lock(mutex_);
  if (!loop_) return;
  boost::asio::post(*loop_, [open = open_, kept = std::move(letter)]() mutable {
    if (*open) kept();
  });
}

void Mailbox::close() {
  *open_ = false;
  const std::scoped_lock lock(mutex_);
  loop_.reset();
}

EventSubscription::EventSubscription(std::shared_ptr<Mailbox> mailbox, HearEvent hear)
    : mailbox_(std::move(mailbox)), hear_(std::move(hear)) {}

Result<void> EventSubscription::begin(const Api& api, virConnect* connection) {
  registered_.clear();
  const auto listener = [&] { return std::make_unique<Listener>(Listener{&api, mailbox_, hear_}); };
  auto closing = listener();
  if (api.register_close(connection, on_close, closing.get(), release) == 0) {
    [[maybe_unused]] const Listener* const theirs = closing.release();
  }
  for (const Row& row : rows()) {
    auto told = listener();
    const int id = api.register_event(connection, nullptr, row.id, row.call, told.get(), release);
    if (id < 0) {
      const LastError last = last_error(api);
      if (blames_connection(last.code)) return std::unexpected(error_of(last));
      continue;
    }
    [[maybe_unused]] const Listener* const theirs = told.release();
    registered_.push_back(id);
  }
  return {};
}

void EventSubscription::end(const Api& api, virConnect* connection) {
  for (const int id : std::exchange(registered_, {})) api.deregister_event(connection, id);
  api.unregister_close(connection, on_close);
}

}  // namespace wardmote::net::libvirt
