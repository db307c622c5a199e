#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "agent/agent.h"
#include "agent/config/config.h"
#include "agent/config/problem.h"
#include "agent/config/yaml.h"
#include "agent/log_writer.h"
#include "agent/options.h"
#include "agent/receivers.h"
#include "agent/service_manager.h"
#include "base/format.h"
#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "base/version.h"
#include "net/asio_runtime.h"
#include "net/curl/http_client.h"
#include "net/signals.h"
#include "net/sqlite/database.h"
#include "observe/kinds.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::agent {
namespace {

constexpr int kBadConfig = 65;
constexpr int kUnavailable = 69;

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "localhost";
}

void print(std::FILE* to, const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), to);
}

/// All of the file, or one byte more than a configuration may have; nothing when it cannot be read.
std::optional<std::string> read_file(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"),
                                                             std::fclose);
  if (!file) return std::nullopt;
  std::string bytes(config::YamlLimits{}.bytes + 1, '\0');
  bytes.resize(std::fread(bytes.data(), 1, bytes.size(), file.get()));
  if (std::ferror(file.get()) != 0) return std::nullopt;
  return bytes;
}

void print(const std::string& path, const std::vector<config::Problem>& problems) {
  for (const config::Problem& problem : problems) print(stderr, describe(path, problem) + "\n");
}

/// Nothing when the file is not good; then everything about it has been said on standard error.
std::optional<config::Config> load(const std::string& path, runtime::Runtime& runtime) {
  const auto bytes = read_file(path);
  if (!bytes) {
    print(stderr, fmt::format("{}: cannot be read: {}; check the path and its access rights\n",
                              path, std::generic_category().message(errno)));
    return std::nullopt;
  }
  auto config = config::parse_config(*bytes, observe::probe_kinds());
  if (!config) {
    print(path, config.error());
    return std::nullopt;
  }
  const std::vector<config::Problem> refused = try_probes(*config, runtime);
  print(path, refused);
  if (!refused.empty()) return std::nullopt;
  return *std::move(config);
}

/// Opens the database in the folder `data`; null when the operator wants none. One that is damaged
/// is put aside, so that the watching goes on, and so does its evidence.
Result<std::unique_ptr<net::SqliteDatabase>> open_database(net::AsioRuntime& runtime,
                                                           const std::string& data) {
  if (data.empty()) return nullptr;
  const std::string path = data + "/wardmote.db";
  auto database = net::SqliteDatabase::open(runtime, path);
  if (database || database.error().code != Errc::kProtocol) return database;
  const std::string aside = fmt::format("{}.damaged-{}", path, format_utc(runtime.wall_now()));
  log(LogLevel::kError, "database_damaged",
      {{"reason", database.error().describe()}, {"kept_as", aside}});
  if (std::rename(path.c_str(), aside.c_str()) != 0) return database;
  for (const char* const part : {"-wal", "-shm"}) {
    std::rename((path + part).c_str(), (aside + part).c_str());
  }
  return net::SqliteDatabase::open(runtime, path);
}

runtime::Task<Result<void>> begin(Agent* agent) {
  Result<void> recalled = co_await agent->recall();
  if (!recalled) co_return recalled;
  co_return agent->start();
}

runtime::Task<int> run_until_told(net::AsioRuntime* runtime, Agent* agent) {
  net::Signals signals(*runtime, {SIGTERM, SIGINT});
  const Result<void> started = co_await begin(agent);
  if (started) {
    log(LogLevel::kInfo, "started", {{"version", std::string(kVersion)}});
    const int number = co_await signals.next();
    log(LogLevel::kInfo, "stopping", {{"signal", number == SIGTERM ? "SIGTERM" : "SIGINT"}});
  } else {
    log(LogLevel::kError, "start_failed", {{"reason", started.error().describe()}});
  }
  co_await agent->stop();
  if (started) co_return 0;
  co_return started.error().code == Errc::kInvalid ? kBadConfig : kUnavailable;
}

int run(net::AsioRuntime& runtime, config::Config config, const Options& options) {
  const ServiceManager service = ServiceManager::from_environment();
  set_log_sink(
      std::make_unique<LogWriter>(LogOptions{options.log_level, options.log_format, STDERR_FILENO,
                                             [&runtime] { return runtime.wall_now(); }}));
  std::string node = config.node.name.empty() ? host_name() : config.node.name;
  const auto database = open_database(runtime, config.data);
  if (!database) {
    log(LogLevel::kError, "start_failed", {{"reason", database.error().describe()}});
    set_log_sink(nullptr);
    return kUnavailable;
  }
  net::CurlHttpClient http(runtime);
  auto receivers = make_receivers(config.notify, runtime, &http);
  if (!receivers) {
    log(LogLevel::kError, "start_failed", {{"reason", receivers.error().describe()}});
    set_log_sink(nullptr);
    return kBadConfig;
  }
  Agent agent(runtime, service, std::move(config), std::move(node), database->get(),
              *std::move(receivers));
  const int exit_code = net::run_task(runtime, run_until_told(&runtime, &agent));
  set_log_sink(nullptr);  // it writes what is left
  return exit_code;
}

int main(int argc, const char* const* argv) {
  const auto options = parse_options(argc, argv);
  if (!options) {
    print(options.error().exit_code == 0 ? stdout : stderr, options.error().text);
    return options.error().exit_code;
  }
  ::signal(SIGPIPE, SIG_IGN);  // a reader that goes away is an error of one write
  net::AsioRuntime runtime;
  auto config = load(options->config, runtime);
  if (!config) return kBadConfig;
  if (options->check) {
    print(stdout, "ok\n");
    return 0;
  }
  return run(runtime, *std::move(config), *options);
}

}  // namespace
}  // namespace wardmote::agent

int main(int argc, char** argv) {
  try {
    return wardmote::agent::main(argc, argv);
  } catch (const std::exception& broken) {
    std::fprintf(stderr, "wardmoted: %s\n", broken.what());
    return 70;  // EX_SOFTWARE of sysexits.h
  }
}
