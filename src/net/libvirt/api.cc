#include "net/libvirt/api.h"

#include <dlfcn.h>

#include <string>
#include <thread>

#include "base/result.h"

namespace wardmote::net::libvirt {
namespace {

using Run = int (*)();

struct Loaded {
  Api api{};
  Run run_loop = nullptr;
  std::string problem;  ///< empty: all is there
};

template <class Function>
void find(void* library, const char* name, Function& into, std::string& problem) {
  into = reinterpret_cast<Function>(::dlsym(library, name));
  if (into == nullptr && problem.empty()) problem = std::string("it has no ") + name;
}

void* open_library(const char* name, std::string& problem) {
  if (!problem.empty()) return nullptr;
  void* const library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
  // Nobody else loads a library at that moment.
  if (library == nullptr) problem = ::dlerror();  // NOLINT(concurrency-mt-unsafe)
  return library;
}

/// Its own handler would write every error to our standard error.
void say_nothing(void*, virError*) {}

Loaded load_library() {
  Loaded loaded;
  std::string& problem = loaded.problem;
  void* const base = open_library("libvirt.so.0", problem);
  void* const qemu = open_library("libvirt-qemu.so.0", problem);
  if (!problem.empty()) return loaded;
  Api& api = loaded.api;
  find(base, "virConnectOpen", api.open, problem);
  find(base, "virConnectClose", api.close, problem);
  find(base, "virConnectIsAlive", api.is_alive, problem);
  find(base, "virConnectSetKeepAlive", api.set_keep_alive, problem);
  find(base, "virConnectRegisterCloseCallback", api.register_close, problem);
  find(base, "virConnectUnregisterCloseCallback", api.unregister_close, problem);
  find(base, "virConnectDomainEventRegisterAny", api.register_event, problem);
  find(base, "virConnectDomainEventDeregisterAny", api.deregister_event, problem);
  find(base, "virNodeGetFreeMemory", api.free_memory, problem);
  find(base, "virDomainLookupByUUIDString", api.lookup, problem);
  find(base, "virDomainFree", api.free_domain, problem);
  find(base, "virDomainGetName", api.domain_name, problem);
  find(base, "virDomainGetID", api.domain_id, problem);
  find(base, "virDomainGetUUIDString", api.domain_uuid, problem);
  find(base, "virDomainGetXMLDesc", api.domain_xml, problem);
  find(base, "virConnectGetAllDomainStats", api.all_stats, problem);
  find(base, "virDomainListGetStats", api.list_stats, problem);
  find(base, "virDomainStatsRecordListFree", api.free_stats, problem);
  find(base, "virDomainAgentSetResponseTimeout", api.agent_timeout, problem);
  find(base, "virDomainGetState", api.domain_state, problem);
  find(base, "virDomainIsPersistent", api.domain_persistent, problem);
  find(base, "virDomainGetJobInfo", api.domain_job, problem);
  find(base, "virDomainGetBlockJobInfo", api.block_job, problem);
  find(base, "virDomainInjectNMI", api.inject_nmi, problem);
  find(base, "virDomainDestroy", api.destroy, problem);
  find(base, "virDomainCreate", api.create, problem);
  find(base, "virGetLastError", api.last_error, problem);
  find(qemu, "virDomainQemuAgentCommand", api.agent_command, problem);
  Run register_loop = nullptr;
  void (*set_error_function)(void*, virErrorFunc) = nullptr;
  find(base, "virEventRegisterDefaultImpl", register_loop, problem);
  find(base, "virEventRunDefaultImpl", loaded.run_loop, problem);
  find(base, "virSetErrorFunc", set_error_function, problem);
  if (!problem.empty()) return loaded;
  set_error_function(nullptr, say_nothing);
  if (register_loop() != 0) {
    problem = "its event loop cannot be set up";
    return loaded;
  }
  // It belongs to the process, as the library does: nothing of ours is reached from it after the
  // callbacks are gone.
  std::thread([run = loaded.run_loop] {
    while (run() >= 0) {
    }
  }).detach();
  return loaded;
}

}  // namespace

Result<const Api*> Api::load() {
  static const Loaded kLoaded = load_library();
  if (kLoaded.problem.empty()) return &kLoaded.api;
  return fail(Errc::kMissing, "libvirt cannot be loaded (is libvirt0 installed?): {}",
              kLoaded.problem);
}

LastError last_error(const Api& api) {
  const virError* const last = api.last_error();
  if (last == nullptr) return {};
  return {last->code, last->message == nullptr ? "no reason given" : last->message};
}

bool blames_connection(int code) noexcept {
  return code == kSystemError || code == kRpc || code == kAuthFailed;
}

bool is_dead(const Api& api, virConnect* connection) {
  // -1: its driver cannot tell.
  return api.is_alive(connection) == 0;
}

Error error_of(const LastError& last) {
  Errc code = Errc::kRejected;
  if (last.code == kSystemError || last.code == kRpc) code = Errc::kClosed;
  if (last.code == kAuthFailed || last.code == kAccessDenied) code = Errc::kDenied;
  if (last.code == kNoDomain) code = Errc::kMissing;
  return {code, last.text};
}

}  // namespace wardmote::net::libvirt
