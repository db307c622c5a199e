#pragma once
// What is used of libvirt's public C interface (libvirt/*.h, LGPL-2.1, stable since 6.0), declared
// here because the library is loaded at run time and need not be there when the agent is built.

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"

namespace wardmote::net::libvirt {

// NOLINTBEGIN(readability-identifier-naming): libvirt's names
struct virConnect;
struct virDomain;

/// The first members of virError, in their order.
struct virError {
  int code;
  int domain;
  char* message;
};

struct virTypedParameter {
  char field[80];
  int type;
  union {
    int i;
    unsigned int ui;
    long long l;
    unsigned long long ul;
    double d;
    char b;
    char* s;
  } value;
};

struct virDomainStatsRecord {
  virDomain* dom;
  virTypedParameter* params;
  int nparams;
};

/// virDomainJobInfo: its type, and eleven numbers that nothing here reads.
struct virDomainJobInfo {
  int type;
  unsigned long long numbers[11];
};

/// virDomainBlockJobInfo.
struct virDomainBlockJobInfo {
  int type;
  unsigned long bandwidth;
  unsigned long long cur;
  unsigned long long end;
};

using virFreeCallback = void (*)(void* opaque);
/// Of any event: each has parameters of its own.
using virConnectDomainEventGenericCallback = void (*)();
using virConnectCloseFunc = void (*)(virConnect*, int reason, void* opaque);
using virErrorFunc = void (*)(void* opaque, virError* error);
// NOLINTEND(readability-identifier-naming)

// virterror.h
inline constexpr int kNoSupport = 3;
inline constexpr int kInternalError = 1;
inline constexpr int kSystemError = 38;
inline constexpr int kRpc = 39;
inline constexpr int kNoDomain = 42;
inline constexpr int kAuthFailed = 45;
inline constexpr int kOperationInvalid = 55;
inline constexpr int kOperationTimeout = 68;
inline constexpr int kArgumentUnsupported = 74;
inline constexpr int kAgentUnresponsive = 86;
inline constexpr int kAccessDenied = 88;
inline constexpr int kAgentUnsynced = 97;

// libvirt-domain.h
inline constexpr int kJobBounded = 1;
inline constexpr int kJobUnbounded = 2;
inline constexpr unsigned kStatsState = 1U << 0;
inline constexpr unsigned kStatsCpu = 1U << 1;
inline constexpr unsigned kStatsInterface = 1U << 4;
inline constexpr unsigned kStatsBlock = 1U << 5;
inline constexpr unsigned kStatsActive = 1U << 0;
inline constexpr unsigned kStatsNoWait = 1U << 29;

/// The functions. Loaded once for the process, and never unloaded.
struct Api {
  virConnect* (*open)(const char* uri);
  int (*close)(virConnect*);
  int (*is_alive)(virConnect*);
  int (*set_keep_alive)(virConnect*, int interval, unsigned count);
  int (*register_close)(virConnect*, virConnectCloseFunc, void* opaque, virFreeCallback);
  int (*unregister_close)(virConnect*, virConnectCloseFunc);
  int (*register_event)(virConnect*, virDomain*, int id, virConnectDomainEventGenericCallback,
                        void* opaque, virFreeCallback);
  int (*deregister_event)(virConnect*, int id);
  unsigned long long (*free_memory)(virConnect*);
  virDomain* (*lookup)(virConnect*, const char* uuid);
  int (*free_domain)(virDomain*);
  const char* (*domain_name)(virDomain*);
  unsigned (*domain_id)(virDomain*);
  int (*domain_uuid)(virDomain*, char* uuid);
  char* (*domain_xml)(virDomain*, unsigned flags);
  int (*all_stats)(virConnect*, unsigned stats, virDomainStatsRecord*** records, unsigned flags);
  int (*list_stats)(virDomain** domains, unsigned stats, virDomainStatsRecord*** records,
                    unsigned flags);
  void (*free_stats)(virDomainStatsRecord** records);
  int (*agent_timeout)(virDomain*, int timeout, unsigned flags);
  int (*domain_state)(virDomain*, int* state, int* reason, unsigned flags);
  int (*domain_persistent)(virDomain*);
  int (*domain_job)(virDomain*, virDomainJobInfo*);
  int (*block_job)(virDomain*, const char* disk, virDomainBlockJobInfo*, unsigned flags);
  int (*inject_nmi)(virDomain*, unsigned flags);
  int (*destroy)(virDomain*);
  int (*create)(virDomain*);
  virError* (*last_error)();
  char* (*agent_command)(virDomain*, const char* command, int timeout, unsigned flags);

  /// kMissing when libvirt is not installed, or is older than what is needed. From then on a
  /// thread of its own runs libvirt's event loop, which keeps connections alive.
  static Result<const Api*> load();
};

/// A domain that is released again.
struct FreeDomain {
  const Api* api;
  void operator()(virDomain* domain) const { api->free_domain(domain); }
};
using Domain = std::unique_ptr<virDomain, FreeDomain>;

/// The code and the words of this thread's last error; never null words.
struct LastError {
  int code = 0;
  std::string text;
};
LastError last_error(const Api& api);
/// Whether the connection is to blame, so that nothing is known of a guest.
bool blames_connection(int code) noexcept;
/// Whether libvirt knows that the connection is gone. Whatever is asked by it then fails as if the
/// guest or the daemon had refused it: `internal error: client socket is closed`. Forgets the last
/// error.
bool is_dead(const Api& api, virConnect* connection);
/// As an error of the door.
Error error_of(const LastError& last);

}  // namespace wardmote::net::libvirt
