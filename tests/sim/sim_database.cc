#include "sim/sim_database.h"

#include <gtest/gtest.h>

#include <utility>

#include "base/check.h"

namespace wardmote::sim {

using runtime::Deadline;
using runtime::SqlRow;
using runtime::SqlStatement;
using runtime::Task;

SimDisk::SimDisk() : connection_(*net::SqliteConnection::open(":memory:")) {}

void SimDisk::restart() noexcept {
  died_ = false;
  buried_ = false;
  countdown_ = 0;
}

bool SimDisk::before_write() {
  ++writes_;
  if (countdown_ > 0 && --countdown_ == 0) died_ = true;
  return !died_;
}

std::vector<SqlRow> SimDisk::rows(const std::string& sql) {
  auto rows = connection_.run({sql, {}});
  EXPECT_TRUE(rows) << rows.error().describe();
  return rows ? *std::move(rows) : std::vector<SqlRow>();
}

Task<Result<std::vector<SqlRow>>> SimDatabase::read(SqlStatement statement, Deadline) {
  if (disk_.buried_) co_return fail(Errc::kClosed, "the process is dead");
  if (disk_.died_) co_await host_.sleep_until(TimePoint::max());
  if (disk_.read_latency_ > Duration::zero())
    co_await host_.sleep_until(host_.now() + disk_.read_latency_);
  Result<std::vector<SqlRow>> rows = disk_.connection_.run(statement);
  co_return rows;
}

Task<Result<std::vector<SqlRow>>> SimDatabase::transact(std::vector<SqlStatement> statements,
                                                        Deadline) {
  if (disk_.buried_) co_return fail(Errc::kClosed, "the process is dead");
  if (disk_.latency_ > Duration::zero()) {
    co_await host_.sleep_until(host_.now() + disk_.latency_);
  }
  if (disk_.fault_) co_return fail(*disk_.fault_, "simulated disk");
  Result<std::vector<SqlRow>> done;
  if (!disk_.died_) {
    done = disk_.connection_.transact(statements, [this] { return disk_.before_write(); });
  }
  if (disk_.died_) co_await host_.sleep_until(TimePoint::max());
  co_return done;
}

}  // namespace wardmote::sim
