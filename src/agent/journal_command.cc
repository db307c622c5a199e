#include "agent/journal_command.h"

#include <string>

#include "agent/config_command.h"
#include "base/format.h"
#include "base/result.h"
#include "net/asio_runtime.h"
#include "net/sqlite/database.h"
#include "store/journal.h"

namespace wardmote::agent {
namespace {

constexpr int kBroken = 2;
constexpr int kUnavailable = 69;

ConfigAnswer unreadable(const Error& error) {
  return {.exit_code = kUnavailable, .errors = "wardmoted: " + error.describe() + "\n"};
}

}  // namespace

ConfigAnswer run_journal_verify(const std::string& data) {
  net::AsioRuntime runtime;
  const std::string path = data + "/wardmote.db";
  // To open a database that is not there would make one.
  if (const auto there = runtime.files().info(path); !there) return unreadable(there.error());
  auto database = net::SqliteDatabase::open(runtime, path);
  if (!database) return unreadable(database.error());
  const auto verdict = net::run_task(runtime, store::verify_journal(&runtime, database->get()));
  if (!verdict) return unreadable(verdict.error());
  if (!verdict->fault) {
    const std::string removed =
        verdict->removed == 0
            ? ""
            : fmt::format("; the {} before were removed, as the journal says", verdict->removed);
    return {.exit_code = 0,
            .output = fmt::format("{} rows, each as it was written{}\n", verdict->rows, removed)};
  }
  return {.exit_code = kBroken,
          .output = fmt::format("{}; the {} before are as they were written\n", *verdict->fault,
                                verdict->rows)};
}

}  // namespace wardmote::agent
