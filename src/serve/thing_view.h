#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/time.h"
#include "judge/condition/condition.h"
#include "judge/finding.h"
#include "judge/thing.h"
#include "judge/verdict.h"
#include "serve/metrics/exposition.h"
#include "serve/metrics/measurement.h"

namespace wardmote::judge {
struct Observation;
}

namespace wardmote::serve {

/// The moment of an answer.
struct Moment {
  TimePoint now;
  WallTime wall;
};

/// One thing that a domain judges as a whole (a raft cluster, a BGP mesh), as judged last. Each
/// judgement makes a new view, which never changes after it is shown, so that an answer that is
/// rendered in pieces may share it.
class ThingView {
 public:
  explicit ThingView(judge::ThingId of) : id(std::move(of)) {}
  virtual ~ThingView() = default;

  judge::ThingId id;
  TimePoint judged;

  [[nodiscard]] virtual std::span<const judge::Finding> findings() const noexcept = 0;
  [[nodiscard]] virtual std::span<const judge::Observed> observed() const noexcept = 0;
  /// What it contributes to the node's verdict at once; nothing: only its check counts, which waits
  /// for the things of its policy.
  [[nodiscard]] virtual std::optional<judge::Verdict> verdict() const noexcept { return {}; }
  /// Its name in the graph of incidents: `cluster:nb`.
  [[nodiscard]] virtual std::string owner() const = 0;
  /// The name in the graph of what is wrong: the thing itself, or something below it.
  [[nodiscard]] virtual std::string component_of(const judge::Finding& finding) const = 0;
  /// The keys that name it in a list of the findings of all things: {"cluster", "database"}.
  [[nodiscard]] virtual boost::json::object names() const = 0;
  /// The whole thing, with "findings" and "observed" in the format of json.h.
  [[nodiscard]] virtual boost::json::object to_json(Moment at) const = 0;
  /// Its metrics.
  virtual void measure(Exposition& out, Moment at) const = 0;

 protected:
  ThingView(const ThingView&) = default;
  ThingView(ThingView&&) = default;
  ThingView& operator=(const ThingView&) = default;
  ThingView& operator=(ThingView&&) = default;
};

/// The things of one kind: their list in `/api/v1/status`, and paths of its own. A domain has a
/// constant of it.
struct Family {
  judge::ThingKind kind;
  std::string_view list;                  ///< `clusters`
  std::string_view path;                  ///< path of the list
  std::string_view item;                  ///< path of one of them, with {name}
  std::span<const MetricInfo> metrics{};  ///< their metrics besides metrics/table.h
  /// Adds what a probe of one of its kinds saw in numbers, by rows of `metrics` whose first label
  /// is the check; null: such probes have none.
  void (*measure)(const judge::Observation& seen, Measurements& into) = nullptr;
};

}  // namespace wardmote::serve
