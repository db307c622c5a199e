#include "act/gate/reconciler.h"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <cstddef>
#include <string>
#include <utility>

#include "base/result.h"
#include "base/text.h"
#include "judge/version_gate/release.h"
#include "runtime/process.h"
#include "runtime/task.h"

namespace wardmote::act::gate {

using runtime::Task;

namespace {

constexpr std::size_t kOutputCap = 64 << 10;
constexpr std::size_t kShown = 300;

std::string line_of(const PassOrder& order) {
  const boost::json::object line{
      {"gate", order.gate},
      {"node", order.node},
      {"token", order.token},
      {"release", to_string(order.own.release)},
      {"min_apiserver_release", to_string(order.own.min_apiserver_release)}};
  return boost::json::serialize(line) + "\n";
}

}  // namespace

Task<Result<void>> CommandReconciler::pass(PassOrder order) {
  runtime::ProcessSpec spec{.argv = argv_,
                            .standard_input = line_of(order),
                            .output_cap = kOutputCap,
                            .ends_family = true};
  const auto ended =
      co_await runtime_.processes().run(std::move(spec), runtime_.deadline_in(timeout_));
  if (!ended) co_return with_context(ended, "{}", argv_.front());
  if (ended->status == 0) co_return Result<void>();
  co_return fail(Errc::kRejected, "{} ended with {}: {}", argv_.front(), ended->status,
                 escape_control(trim(ended->standard_error), kShown));
}

}  // namespace wardmote::act::gate
