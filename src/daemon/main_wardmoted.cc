#include <linux/prctl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <exception>
#include <expected>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "act/kubernetes/node_conditions.h"
#include "act/notify/masakari_events.h"
#include "act/notify/masakari_maintenance.h"
#include "agent/agent.h"
#include "agent/coordination/coordination.h"
#include "agent/reloader.h"
#include "agent/service_manager.h"
#include "base/format.h"
#include "base/log.h"
#include "base/result.h"
#include "base/standard_output.h"
#include "base/time.h"
#include "base/version.h"
#include "config/config.h"
#include "config/files.h"
#include "config/guests.h"
#include "config/load.h"
#include "config/sources.h"
#include "daemon/config_command.h"
#include "daemon/failover_pairs.h"
#include "daemon/guest_probe.h"
#include "daemon/journal_command.h"
#include "daemon/node_conditions.h"
#include "daemon/options.h"
#include "daemon/pod.h"
#include "daemon/receivers.h"
#include "daemon/reconcile_command.h"
#include "daemon/shared_etcd.h"
#include "daemon/start_check.h"
#include "daemon/version_gates.h"
#include "judge/failover/report.h"
#include "net/asio_runtime.h"
#include "net/curl/http_client.h"
#include "net/folder_lock.h"
#include "net/local_tree.h"
#include "net/log_writer.h"
#include "net/owed_mark.h"
#include "net/secret.h"
#include "net/signals.h"
#include "net/sqlite/database.h"
#include "net/system_links.h"
#include "net/tls/tls_layer.h"
#include "net/worker.h"
#include "observe/kinds.h"
#include "runtime/hypervisor.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "serve/agents.h"
#include "serve/failover/pair_routes.h"
#include "serve/version_gates.h"
#include "store/adoption.h"
#include "store/beat.h"
#include "store/embedded_store.h"
#include "store/etcd/etcd_store.h"
#include "store/incident_record.h"
#include "store/notify_record.h"
#include "store/plan_record.h"
#include "store/records.h"
#include "store/store.h"

namespace wardmote::daemon {
namespace {

using agent::Agent;
using agent::Coordination;
using agent::Memory;
using agent::Reloader;
using agent::ServiceManager;

constexpr int kBadConfig = 65;
constexpr int kUnavailable = 69;
constexpr Duration kInPlacePatience = std::chrono::seconds(30);
constexpr rlim_t kDescriptors = 65536;

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "localhost";
}

void print(std::FILE* to, const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), to);
}

void print(const std::vector<std::string>& problems) {
  for (const std::string& problem : problems) print(stderr, problem + "\n");
}

int say(const ConfigAnswer& answer) {
  print(stdout, answer.output);
  print(stderr, answer.errors);
  return answer.exit_code;
}

/// Before anything in the folder is opened: of two agents each would tell what it sees, and one
/// could put aside what the other writes.
Result<net::FolderLock> lock_folder(const std::string& data) {
  auto lock = net::FolderLock::take(data + "/wardmote.lock");
  if (lock || lock.error().code != Errc::kRejected) return lock;
  return with_context(lock, "`data` is for one agent: end the other or give this one its own");
}

/// Opens the database in the folder `data`. One that is damaged is put aside, so that the watching
/// goes on, and so does its evidence; `put_aside` says where.
Result<std::unique_ptr<net::SqliteDatabase>> open_database(net::AsioRuntime& runtime,
                                                           const std::string& data,
                                                           const net::FolderLock* lock,
                                                           std::string& put_aside) {
  const std::string path = data + "/wardmote.db";
  const auto may_write = [lock] { return lock->in_place(); };
  auto database = net::SqliteDatabase::open(runtime, path, {}, may_write);
  if (database || database.error().code != Errc::kProtocol) return database;
  const std::string aside = path + ".damaged-" + format_utc(runtime.wall_now());
  log(LogLevel::kError, "database_damaged",
      {{"reason", database.error().describe()}, {"kept_as", aside}});
  if (std::rename(path.c_str(), aside.c_str()) != 0) return database;
  put_aside = aside;
  for (const char* const part : {"-wal", "-shm"}) {
    std::rename((path + part).c_str(), (aside + part).c_str());
  }
  return net::SqliteDatabase::open(runtime, path, {}, may_write);
}

bool is_empty(const std::string& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  return error ? error == std::errc::no_such_file_or_directory : size == 0;
}

/// What one agent keeps in its own folder.
struct OwnMemory {
  std::unique_ptr<net::FolderLock> lock;
  std::unique_ptr<net::SqliteDatabase> database;
  std::unique_ptr<store::EmbeddedStore> store;
  std::string boot;                       ///< which start of the machine this is
  std::unique_ptr<net::MarkWriter> mark;  ///< null: a full disk takes none
  std::string put_aside;                  ///< the damaged database of before
  bool gone = false;                      ///< an earlier life had a database, which is not there
};

Result<OwnMemory> open_memory(net::AsioRuntime& runtime, const std::string& data) {
  OwnMemory memory;
  if (data.empty()) return memory;
  auto lock = lock_folder(data);
  if (!lock) return std::unexpected(lock.error());
  memory.lock = std::make_unique<net::FolderLock>(*std::move(lock));
  auto mark = net::OwedMark::open(data);
  if (!mark && mark.error().code != Errc::kExhausted) return std::unexpected(mark.error());
  memory.gone = mark && mark->was_there() && is_empty(data + "/wardmote.db");
  if (memory.gone) log(LogLevel::kError, "database_gone", {{"folder", data}});
  if (mark) memory.mark = std::make_unique<net::MarkWriter>(*std::move(mark));
  auto database = open_database(runtime, data, memory.lock.get(), memory.put_aside);
  if (!database) return std::unexpected(database.error());
  memory.database = *std::move(database);
  memory.boot = runtime.boot();
  if (memory.boot.empty())
    return fail(Errc::kMissing, "/proc/sys/kernel/random/boot_id tells no start of the machine");
  memory.store = std::make_unique<store::EmbeddedStore>(runtime, *memory.database, memory.boot);
  return memory;
}

/// What it shares with other agents; null: nothing.
struct Shared {
  std::unique_ptr<store::etcd::EtcdStore> store;
  std::unique_ptr<Coordination> agents;
  /// Version gates may have their keys anywhere, as Metropolis has, so they have a store of their
  /// own without a prefix.
  std::unique_ptr<store::etcd::EtcdStore> of_gates;
  std::unique_ptr<store::Beat> gates_beat;
  std::unique_ptr<VersionGates> gates;  ///< null: there are none
  std::unique_ptr<net::SystemLinks> links = std::make_unique<net::SystemLinks>();
  std::unique_ptr<FailoverPairs> pairs;  ///< null: there are none; made with the agent
  std::unique_ptr<act::kubernetes::NodeConditions> conditions;  ///< null: nobody wants them
  // Made with the agent.
  std::unique_ptr<act::notify::MasakariMaintenance> maintenance;
  std::unique_ptr<act::notify::MasakariEvents> events;
  std::function<void(const runtime::HypervisorEvent&)> hear;
};

Result<Shared> open_shared(net::AsioRuntime& runtime, const config::Config& config,
                           const OwnMemory& own, net::CurlHttpClient& http) {
  Shared shared;
  const std::string node = config.node.name.empty() ? host_name() : config.node.name;
  if (config.store) {
    auto store = open_etcd(runtime, *config.store, shared_prefix(*config.store),
                           std::string(store::kBeatKey));
    if (!store) return std::unexpected(store.error());
    shared.store = *std::move(store);
    const Coordination::Self self{node, config.node.labels, own.boot};
    shared.agents = std::make_unique<Coordination>(runtime, *shared.store, config.store->ttl, self);
  }
  if (config.node_conditions) shared.conditions = make_node_conditions(runtime, http, config, node);
  if (config.version_gates.empty()) return shared;
  if (config.store) {
    std::string beat_key = shared_prefix(*config.store) + std::string(store::kBeatKey);
    auto store = open_etcd(runtime, *config.store, "", beat_key);
    if (!store) return std::unexpected(store.error());
    shared.of_gates = *std::move(store);
    shared.gates_beat = std::make_unique<store::Beat>(runtime, *shared.of_gates, nullptr,
                                                      config.store->ttl, std::move(beat_key));
  }
  store::Store& store = shared.of_gates ? static_cast<store::Store&>(*shared.of_gates)
                                        : static_cast<store::Store&>(*own.store);
  const std::string agents = config.store ? shared_prefix(*config.store) : std::string();
  const VersionGates::Self self{
      .node = node, .boot = own.boot, .pause_key = agents + store::pause_key("")};
  const VersionGates::Needs needs{
      .http = &http, .lines = &http, .pod_server = pod_server(), .make_tree = [&runtime] {
        return std::make_unique<net::LocalTree>(runtime);
      }};
  shared.gates = std::make_unique<VersionGates>(runtime, store, self, needs, config.version_gates);
  return shared;
}

/// Before anything is read: the tables, and what an earlier version kept elsewhere.
runtime::Task<Result<void>> prepare(runtime::Runtime* runtime, OwnMemory* memory) {
  if (!memory->database) co_return Result<void>();
  store::Records records(*runtime, *memory->database);
  Result<void> opened = co_await records.open();
  if (opened) opened = co_await memory->store->open();
  if (!opened && opened.error().code == Errc::kExhausted) {
    // Whoever watches must not end because a disk is full: all of this is tried again.
    log(LogLevel::kError, "data_full", {{"reason", opened.error().describe()}});
    co_return Result<void>();
  }
  if (!opened) co_return opened;
  // Plans were written in another form before. A pause protects whatever form they have.
  std::vector<std::string> prefixes = {
      std::string(store::kPausePrefix), std::string(store::kLastPlanKey),
      std::string(store::kStormKey),    std::string(store::kIncidentPrefix),
      std::string(store::kGroupPrefix), std::string(store::kSilencePrefix)};
  const auto adopted =
      co_await store::adopt_records(runtime, memory->database.get(), std::move(prefixes));
  if (!adopted && adopted.error().code == Errc::kExhausted) {
    log(LogLevel::kError, "records_not_adopted", {{"reason", adopted.error().describe()}});
    co_return opened;
  }
  if (!adopted) co_return std::unexpected(adopted.error());
  if (*adopted > 0) {
    log(LogLevel::kInfo, "records_adopted", {{"count", std::to_string(*adopted)}});
  }
  co_return opened;
}

/// As the agent borrows it.
Memory lend(net::AsioRuntime& runtime, const OwnMemory& own, const Shared& shared) {
  Memory memory{own.database.get(), own.store.get()};
  if (shared.store) {
    memory.store = shared.store.get();
    memory.leadership = &shared.agents->leadership();
    memory.own = own.store.get();
    memory.isolation = [agents = shared.agents.get()] { return agents->isolation(); };
  }
  // They are made with the agent, which asks for them later.
  memory.pairs = [&shared] {
    return shared.pairs ? shared.pairs->pairs() : std::vector<judge::failover::PairReport>();
  };
  memory.recoverer.maintenance = [&shared] {
    return shared.maintenance && shared.maintenance->is_on();
  };
  memory.recoverer.hear = [&shared](const runtime::HypervisorEvent& event) {
    if (shared.hear) shared.hear(event);
  };
  memory.put_aside = own.put_aside;
  if (!own.put_aside.empty() && !shared.store)
    memory.doubts.emplace_back("the database was damaged, and a new one was begun");
  if (own.gone && !shared.store)
    memory.doubts.emplace_back("the database of an earlier life is gone");
  if (net::MarkWriter* const mark = own.mark.get()) {
    if (mark->was_set())
      memory.doubts.emplace_back("it ended before all that forbids acts was written down");
    memory.mark = [mark](bool doubt) { mark->set(doubt); };
  }
  if (net::SqliteDatabase* const database = own.database.get()) {
    memory.in_place = [&runtime, database] {
      return database->in_place(runtime.deadline_in(kInPlacePatience));
    };
  }
  return memory;
}

runtime::Task<Result<void>> begin(runtime::Runtime* runtime, OwnMemory* memory, Agent* agent) {
  const Result<void> prepared = co_await prepare(runtime, memory);
  if (!prepared) co_return prepared;
  Result<void> recalled = co_await agent->recall();
  if (!recalled) co_return recalled;
  co_return agent->start();
}

int start_failed(const std::string& reason, int exit_code) {
  log(LogLevel::kError, "start_failed", {{"reason", reason}});
  set_log_sink(nullptr);  // it writes what is left
  return exit_code;
}

/// Begins what goes by an agent that runs.
void start_with(Agent& agent, const Shared& shared) {
  if (shared.store) {
    shared.agents->start(agent.incidents(), agent.notes(),
                         [&agent](std::string why) { agent.doubt_orders(std::move(why)); });
  }
  if (shared.gates_beat) shared.gates_beat->start();
  if (shared.gates) shared.gates->start();
  if (shared.pairs) shared.pairs->start();
  shared.maintenance->start();
  shared.events->start();
  if (shared.conditions)
    shared.conditions->start([&agent] { return node_conditions_of(agent.fresh_view()); });
}

/// Ends what changes something elsewhere, while the agent still journals.
runtime::Task<void> stop_acts(Shared* shared) {
  if (shared->conditions) co_await shared->conditions->stop();
  co_await shared->maintenance->stop();
  co_await shared->events->stop();
  if (shared->pairs) co_await shared->pairs->stop();
  if (shared->gates) co_await shared->gates->stop();
}

/// Runs until SIGTERM or SIGINT; SIGHUP reads the configuration again.
runtime::Task<int> run_until_told(net::AsioRuntime* runtime, OwnMemory* memory, Shared* shared,
                                  Agent* agent, Reloader* reloader) {
  net::Signals signals(*runtime, {SIGTERM, SIGINT, SIGHUP});
  const Result<void> started = co_await begin(runtime, memory, agent);
  if (started) {
    log(LogLevel::kInfo, "started", {{"version", std::string(kVersion)}});
    start_with(*agent, *shared);
    reloader->start();
    int number = SIGHUP;
    for (;;) {
      number = co_await signals.next();
      if (number != SIGHUP) break;
      co_await reloader->reload("SIGHUP");
    }
    log(LogLevel::kInfo, "stopping", {{"signal", number == SIGTERM ? "SIGTERM" : "SIGINT"}});
    co_await reloader->stop();
  } else {
    log(LogLevel::kError, "start_failed", {{"reason", started.error().describe()}});
  }
  // A repair that was broken off in the middle would leave a member without a database.
  runtime->processes().let_go();
  if (started) co_await stop_acts(shared);
  if (shared->gates_beat) co_await shared->gates_beat->stop();
  if (shared->of_gates) co_await shared->of_gates->stop();
  co_await agent->stop();
  // The work has stopped: the next agent may begin.
  if (shared->store) {
    co_await shared->agents->resign();
    co_await shared->store->stop();
  }
  if (started) co_return 0;
  co_return started.error().code == Errc::kInvalid ? kBadConfig : kUnavailable;
}

ConfigAnswer tell_journal(const Options& options, const std::string& data) {
  return options.journal_rows ? run_journal_export(data) : run_journal_verify(data);
}

int run(net::AsioRuntime& runtime, config::Files& files, const config::Origin& origin,
        config::Loaded loaded, const Options& options) {
  const ServiceManager service = ServiceManager::from_environment();
  const std::vector<std::string> links = config::service_links(environ);
  set_log_sink(std::make_unique<net::LogWriter>(
      net::LogOptions{options.log_level, options.log_format, STDERR_FILENO,
                      [&runtime] { return runtime.wall_now(); }}));
  if (!links.empty()) {
    log(LogLevel::kInfo, "service_links_ignored",
        {{"variables", fmt::format("{}", fmt::join(links, " "))},
         {"reason", "Kubernetes sets them for a service of that name; no key is meant"}});
  }
  if (const auto problem = folder_problem(loaded.config->data))
    return start_failed(*problem, kUnavailable);
  auto memory = open_memory(runtime, loaded.config->data);
  if (!memory) return start_failed(memory.error().describe(), kUnavailable);
  net::CurlHttpClient http(runtime);
  const std::string named = loaded.config->node.name;
  const ReceiverNeeds needs{&http, &http, named.empty() ? host_name() : named, pod_server()};
  auto receivers = make_receivers(loaded.config->notify, runtime, needs);
  if (!receivers) return start_failed(receivers.error().describe(), kBadConfig);
  auto shared = open_shared(runtime, *loaded.config, *memory, http);
  if (!shared) return start_failed(shared.error().describe(), kBadConfig);
  Agent agent(runtime, service, *std::move(loaded.config), host_name(),
              lend(runtime, *memory, *shared), *std::move(receivers));
  if (shared->store && !agent.failover().empty()) {
    shared->pairs =
        std::make_unique<FailoverPairs>(runtime, *shared->store, *shared->links, named,
                                        agent.failover(), [&agent] { return agent.act_log(); });
  }
  const auto masakari = [&agent] {
    const auto* const asked = config::maintenance_source(agent.config());
    return asked ? std::optional(*asked) : std::nullopt;
  };
  shared->maintenance = std::make_unique<act::notify::MasakariMaintenance>(
      runtime, http, masakari, net::read_secret, needs.node);
  shared->events = std::make_unique<act::notify::MasakariEvents>(runtime, http, masakari,
                                                                 net::read_secret, needs.node);
  shared->hear = [&agent, &shared](const runtime::HypervisorEvent& event) {
    for (const auto& told : config::events_for_masakari(agent.config(), event))
      shared->events->tell(event.uuid, std::string(told.event), std::string(told.vir_domain_event));
  };
  if (shared->gates) shared->gates->journal_to([&agent] { return agent.act_log(); });
  agent.add(serve::failover_routes(shared->pairs.get()));
  agent.add(serve::agents_routes(shared->agents.get()));
  agent.add(serve::version_gate_routes(shared->gates.get()));
  agent.measure(shared->gates.get());
  agent.renew_receivers([&runtime, &needs](const config::Notify& notify) {
    return make_receivers(notify, runtime, needs);
  });
  net::Worker worker(runtime);
  Reloader reloader(runtime, files, agent, origin, loaded,
                    [&worker](std::function<void()> work) { return worker.run(std::move(work)); });
  const int exit_code =
      net::run_task(runtime, run_until_told(&runtime, &*memory, &*shared, &agent, &reloader));
  set_log_sink(nullptr);  // it writes what is left
  return exit_code;
}

/// Each connection is a descriptor.
void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, kDescriptors);
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

/// A right that the unit grants is the agent's alone: the programs that it starts do not inherit
/// it.
void keep_rights_to_itself() {
  ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
}

int main(int argc, const char* const* argv) {
  const auto options = parse_options(argc, argv);
  if (!options) {
    print(options.error().exit_code == 0 ? stdout : stderr, options.error().text);
    return options.error().exit_code;
  }
  raise_descriptor_limit();
  keep_rights_to_itself();
  ::signal(SIGPIPE, SIG_IGN);  // a reader that goes away is an error of one write
  config::LocalFiles files;
  const config::Origin origin{options->config, config::overrides_of(environ)};
  if (options->order) {
    const auto tls = net::tls::make_tls_layer();
    return say(run_config(*options->order, files, origin.overrides, tls.get()));
  }
  if (options->probe) return say(run_guest_probe(*options->probe));
  if (options->journal && !options->journal->empty()) {
    return say(tell_journal(*options, *options->journal));
  }
  net::AsioRuntime runtime;
  if (options->reconcile) return say(run_reconcile(runtime, *options->reconcile));
  runtime.use_tls(net::tls::make_tls_layer());
  config::Loaded loaded = config::load_config(files, origin, observe::probe_kinds(), runtime);
  if (!loaded.config) {
    print(loaded.problems);
    return kBadConfig;
  }
  if (options->journal) return say(tell_journal(*options, loaded.config->data));
  return run(runtime, files, origin, std::move(loaded), *options);
}

}  // namespace
}  // namespace wardmote::daemon

int main(int argc, char** argv) {
  try {
    return wardmote::checked_output("wardmoted", wardmote::daemon::main(argc, argv));
  } catch (const std::exception& broken) {
    std::fprintf(stderr, "wardmoted: %s\n", broken.what());
    return 70;  // EX_SOFTWARE of sysexits.h
  }
}
