#include "unit/agent/toy_domain/counter_view.h"

#include <string_view>

#include "judge/incident/graph.h"
#include "serve/json.h"

namespace wardmote::serve::toy {

std::string CounterView::owner() const {
  return judge::incident::check_node(id.name);
}

boost::json::object CounterView::names() const {
  return {{"counter", id.name}};
}

boost::json::object CounterView::to_json(Moment at) const {
  boost::json::object object = names();
  object["of"] = counter.of;
  object["count"] = counter.count;
  object["most"] = counter.most;
  object["findings"] = findings_json(assessment.findings, at);
  object["observed"] = observed_json(assessment.observed, at);
  return object;
}

void CounterView::measure(Exposition& out, Moment) const {
  const std::string_view name[] = {id.name};
  out.add(row_of(kCounterMetrics, "wardmote_counter_count"), name, counter.count);
}

}  // namespace wardmote::serve::toy
