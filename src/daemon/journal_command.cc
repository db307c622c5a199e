#include "daemon/journal_command.h"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <cstdio>
#include <expected>
#include <memory>
#include <string>

#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "daemon/config_command.h"
#include "net/asio_runtime.h"
#include "net/sqlite/database.h"
#include "serve/plans.h"
#include "store/journal.h"

namespace wardmote::daemon {
namespace {

constexpr int kBroken = 2;
constexpr int kUnavailable = 69;

ConfigAnswer unreadable(const Error& error) {
  return {.exit_code = kUnavailable, .errors = "wardmoted: " + error.describe() + "\n"};
}

Result<std::unique_ptr<net::SqliteDatabase>> open(net::AsioRuntime& runtime,
                                                  const std::string& data) {
  const std::string path = data + "/wardmote.db";
  // To open a database that is not there would make one.
  if (const auto there = runtime.files().info(path); !there) return std::unexpected(there.error());
  return net::SqliteDatabase::open(runtime, path);
}

}  // namespace

ConfigAnswer run_journal_verify(const std::string& data) {
  net::AsioRuntime runtime;
  auto database = open(runtime, data);
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

ConfigAnswer run_journal_export(const std::string& data) {
  net::AsioRuntime runtime;
  auto database = open(runtime, data);
  if (!database) return unreadable(database.error());
  // At once, because it may be long. Whoever reads no further ends it.
  const auto print = [](const store::JournalEntry& entry, const std::string& hash) {
    boost::json::object row = serve::to_json(entry);
    row["hash"] = escape_control(hash);
    const std::string line = boost::json::serialize(row) + "\n";
    std::fwrite(line.data(), 1, line.size(), stdout);
  };
  const auto read = net::run_task(runtime, store::read_journal(&runtime, database->get(), print));
  if (!read) return unreadable(read.error());
  if (std::fflush(stdout) != 0) return unreadable({Errc::kClosed, "standard output"});
  return {};
}

}  // namespace wardmote::daemon
