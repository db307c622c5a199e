#include "act/reconcile/set_reconciler.h"

#include <cstddef>
#include <expected>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "act/act_log.h"
#include "act/gate/reconciler.h"
#include "act/reconcile/source.h"
#include "act/reconcile/target.h"
#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "control/written.h"
#include "judge/journal_entry.h"
#include "judge/reconcile/adoption.h"
#include "judge/reconcile/report.h"
#include "judge/version_gate/release.h"
#include "judge/version_gate/status.h"
#include "runtime/task.h"

namespace wardmote::act::reconcile {

using judge::JournalEntry;
using judge::reconcile::ObjectReport;
using judge::reconcile::PassReport;
using runtime::Task;

namespace {

/// Of the objects that a row names.
constexpr std::size_t kMostNamed = 50;
constexpr std::size_t kMostOfOne = 200;
constexpr std::string_view kKilled =
    "the agent was killed before the end; nobody knows how much of it was done";
constexpr std::string_view kBrokenOff = "the pass was broken off: this node may not write any more";

/// Without diffs: what is in an object is for operators, and a journal is for longer.
std::string row_of(const PassReport& report) {
  std::string text = summary_of(report);
  std::size_t named = 0;
  for (const ObjectReport& one : report.touched) {
    if (one.action == ObjectReport::Action::kLeft) continue;
    if (++named > kMostNamed) continue;
    std::string line = fmt::format("{} {}{}{}", one.object, to_string(one.action),
                                   one.why.empty() ? "" : ": ", one.why);
    text += "; " + escape_control(line, kMostOfOne);
  }
  if (named > kMostNamed) text += fmt::format("; and {} more", named - kMostNamed);
  return text;
}

/// Why the object was not taken over; empty: it was.
std::string why_not(const PassReport& report, const std::string& object) {
  for (const ObjectReport& one : report.touched) {
    if (one.object != object) continue;
    const bool done =
        one.action != ObjectReport::Action::kFailed && one.action != ObjectReport::Action::kLeft;
    return done ? "" : one.why;
  }
  if (report.good()) return "";
  return "the pass did not come to it: " + escape_control(summary_of(report), kMostOfOne);
}

}  // namespace

/// A pass that is cancelled has an end in the journal, too.
class SetReconciler::Announced {
 public:
  explicit Announced(SetReconciler& of) : of_(of) { of_.announced_ = false; }
  Announced(const Announced&) = delete;
  Announced& operator=(const Announced&) = delete;
  ~Announced() {
    if (std::exchange(of_.announced_, false))
      of_.notes_.spawn("reconcile journal",
                       of_.note(of_.entry("dropped", std::string(kBrokenOff))));
    for (const auto& [object, adoption] : std::exchange(of_.under_way_, {}))
      of_.notes_.spawn("reconcile journal", of_.note(of_.adoption_entry(object, adoption, "dropped",
                                                                        std::string(kBrokenOff))));
  }

 private:
  SetReconciler& of_;
};

/// Ends with the pass, also with one that is cancelled: then it is the last one all the same.
class SetReconciler::UnderWay {
 public:
  UnderWay(SetReconciler& of, bool dry, judge::version_gate::Revision token)
      : of_(of), dry_(dry), token_(token), before_(of.last_), begun_(of.runtime_.now()) {
    of_.progress_.emplace().begun = of_.runtime_.wall_now();
  }
  UnderWay(const UnderWay&) = delete;
  UnderWay& operator=(const UnderWay&) = delete;
  ~UnderWay() {
    const auto progress = *std::exchange(of_.progress_, std::nullopt);
    if (dry_ || of_.last_ != before_) return;
    PassReport report{.dry = false,
                      .begun = progress.begun,
                      .took = of_.runtime_.now() - begun_,
                      .source = of_.state_,
                      .objects = progress.objects};
    report.faults.push_back(
        fmt::format("the pass was broken off, when {} of {} objects were treated", progress.treated,
                    progress.objects));
    of_.last_ = std::make_shared<const PassReport>(std::move(report));
    of_.last_token_ = token_;
  }

 private:
  SetReconciler& of_;
  const bool dry_;
  const judge::version_gate::Revision token_;
  const std::shared_ptr<const PassReport> before_;
  const TimePoint begun_;
};

JournalEntry SetReconciler::entry(std::string kind, std::string detail) const {
  JournalEntry entry;
  entry.kind = std::move(kind);
  entry.step = "reconcile";
  entry.cluster = options_.gate;
  entry.subject = options_.node;
  entry.actor = "reconcile";
  entry.detail = std::move(detail);
  return entry;
}

Task<Result<void>> SetReconciler::announce(gate::PassOrder order) {
  ActLog* const journal = options_.journal ? options_.journal() : nullptr;
  if (journal == nullptr)
    co_return fail(Errc::kRejected,
                   "the journal is not open yet, and nothing is written without an intent in it");
  std::string detail = fmt::format("writes what {} says, as the leader of release {} with token {}",
                                   state_, to_string(order.own.release), order.token);
  ActLog::Appended appended = co_await journal->append(entry("intent", std::move(detail)), {});
  if (!appended.done) co_return with_context(appended.done, "the journal");
  announced_ = true;
  co_return Result<void>();
}

Task<void> SetReconciler::note(JournalEntry entry) {
  ActLog* const journal = options_.journal ? options_.journal() : nullptr;
  if (journal == nullptr) co_return;
  const Result<void> written = co_await journal->append_or_owe(std::move(entry), {});
  static_cast<void>(written);  // it is owed
}

Task<void> SetReconciler::end_earlier() {
  ActLog* const journal = options_.journal ? options_.journal() : nullptr;
  if (journal == nullptr || earlier_ended_) co_return;
  earlier_ended_ = true;
  std::map<std::pair<std::string, std::string>, JournalEntry> open;
  for (const JournalEntry& row : journal->journal().recent()) {
    const bool own =
        row.cluster == options_.gate && (row.step == "reconcile" || row.step == "adopt");
    if (!own || (row.step == "adopt" && ordered_.contains(row.subject))) continue;
    if (row.kind == "intent") open.insert_or_assign({row.step, row.subject}, row);
    if (row.kind != "intent") open.erase({row.step, row.subject});
  }
  for (const auto& [what, intent] : open) {
    JournalEntry end = entry("dropped", std::string(kKilled));
    end.step = intent.step;
    end.subject = intent.subject;
    end.actor = intent.actor;
    co_await note(std::move(end));
  }
}

JournalEntry SetReconciler::adoption_entry(const std::string& object, const Adoption& adoption,
                                           std::string kind, std::string detail) const {
  JournalEntry row = entry(std::move(kind), std::move(detail));
  row.step = "adopt";
  row.subject = object;
  row.actor = adoption.by;
  return row;
}

Result<std::shared_ptr<control::Written>> SetReconciler::adopt(std::string_view words,
                                                               std::string by) {
  if (!last_ || last_->dry || token_ == 0)
    return fail(Errc::kRejected, "this node has made no pass yet");
  auto found = judge::reconcile::find_adoptable(*last_, words);
  if (!found) return std::unexpected(found.error());
  if (ordered_.contains(found->object) || !being_noted_.insert(found->object).second)
    return fail(Errc::kRejected, "it is ordered already; the next pass takes it over");
  auto written = std::make_shared<control::Written>(runtime_.executor());
  Adoption adoption{.uid = found->foreign->uid, .by = std::move(by), .token = token_};
  notes_.spawn("reconcile adopt",
               take_order(std::move(found->object), std::move(adoption), written));
  return written;
}

Task<void> SetReconciler::take_order(std::string object, Adoption adoption,
                                     std::shared_ptr<control::Written> written) {
  const Result<void> noted = co_await note_order(object, adoption);
  being_noted_.erase(object);
  if (!noted) {
    written->done(noted.error().context);
    co_return;
  }
  ordered_.insert_or_assign(std::move(object), std::move(adoption));
  if (disturbed_) disturbed_();
  written->done(std::nullopt);
}

Task<Result<void>> SetReconciler::note_order(std::string object, Adoption adoption) {
  ActLog* const journal = options_.journal ? options_.journal() : nullptr;
  if (journal == nullptr) co_return fail(Errc::kRejected, "the journal is not open yet");
  std::string detail =
      fmt::format("the next pass takes it over, if it still is the one with uid {}", adoption.uid);
  JournalEntry intent = adoption_entry(object, adoption, "intent", std::move(detail));
  const ActLog::Appended appended = co_await journal->append(std::move(intent), {});
  if (!appended.done) co_return with_context(appended.done, "the journal");
  co_return Result<void>();
}

judge::reconcile::Adoptions SetReconciler::begin_adoptions(judge::version_gate::Revision token) {
  token_ = token;
  under_way_ = std::exchange(ordered_, {});
  judge::reconcile::Adoptions begun;
  for (auto one = under_way_.begin(); one != under_way_.end();) {
    if (one->second.token == token) {
      begun.emplace(one->first, one->second.uid);
      ++one;
      continue;
    }
    // Who ordered it did not mean a leader of another time.
    notes_.spawn("reconcile journal",
                 note(adoption_entry(one->first, one->second, "dropped",
                                     "this node has led anew since; order it again")));
    one = under_way_.erase(one);
  }
  return begun;
}

void SetReconciler::keep(PassReport report, judge::version_gate::Revision token) {
  last_ = std::make_shared<const PassReport>(std::move(report));
  last_token_ = token;
  if (!last_->dry) tally_.add(*last_);
}

Task<void> SetReconciler::run(PassTerms terms) {
  const bool dry = terms.dry;
  const judge::version_gate::Revision token = dry ? 0 : terms.token;
  const UnderWay under_way(*this, dry, token);
  terms.advanced = [this](std::size_t treated, std::size_t objects) {
    progress_->treated = treated;
    progress_->objects = objects;
  };
  co_await target_->stop_watching();
  auto wanted = co_await source_->read(terms.deadline);
  state_ = source_->describe();
  if (!wanted) {
    PassReport report{.dry = dry, .begun = runtime_.wall_now(), .source = state_};
    report.faults.push_back("manifests: " + wanted.error().describe());
    keep(std::move(report), token);
    co_return;
  }
  if (!wanted->revision.empty()) state_ += ", " + wanted->revision;
  PassReport report = co_await target_->pass(std::move(wanted->files), std::move(terms));
  report.source = state_;
  keep(std::move(report), token);
  if (!dry && disturbed_ && last_->good()) target_->watch(disturbed_);
}

Task<Result<void>> SetReconciler::pass(gate::PassOrder order) {
  const Announced announced(*this);
  co_await end_earlier();
  PassTerms terms{.dry = false,
                  .deadline = runtime_.deadline_in(options_.timeout),
                  .token = order.token,
                  .write_until = std::move(order.write_until)};
  terms.announce = [this, order] {
    gate::PassOrder copy = order;
    return announce(std::move(copy));
  };
  terms.adopt = begin_adoptions(order.token);
  co_await run(std::move(terms));
  for (const auto& [object, adoption] : std::exchange(under_way_, {})) {
    std::string why = why_not(*last_, object);
    JournalEntry end = adoption_entry(object, adoption, why.empty() ? "result" : "dropped",
                                      why.empty() ? "it belongs to the set now" : why);
    co_await note(std::move(end));
  }
  if (std::exchange(announced_, false)) co_await note(entry("result", row_of(*last_)));
  if (last_->good()) co_return Result<void>();
  co_return fail(Errc::kRejected, "{}", judge::reconcile::summary_of(*last_));
}

Task<void> SetReconciler::look() {
  PassTerms terms{.dry = true, .deadline = runtime_.deadline_in(options_.timeout)};
  co_await run(std::move(terms));
}

Task<void> SetReconciler::stop() {
  co_await target_->stop_watching();
  for (const auto& [object, adoption] : std::exchange(ordered_, {})) {
    JournalEntry end = adoption_entry(object, adoption, "dropped", "the agent ended before");
    co_await note(std::move(end));
  }
  co_await notes_.stop();
}

}  // namespace wardmote::act::reconcile
