#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "runtime/http.h"
#include "runtime/runtime.h"
#include "runtime/task_group.h"

namespace wardmote::serve {

/// One long text that is made in pieces, from the data at its beginning.
class Rendering {
 public:
  Rendering() = default;
  Rendering(const Rendering&) = delete;
  Rendering& operator=(const Rendering&) = delete;
  virtual ~Rendering() = default;

  /// Appends a piece that takes far less than a millisecond to make. False when that was the last.
  virtual bool add_piece(std::string& text) = 0;
};

/// A JSON object of which some lists may be long.
class LongObject final : public Rendering {
 public:
  struct List {
    std::string key;
    std::size_t parts = 0;
    std::function<boost::json::array(std::size_t part)> items;  ///< part by part; may be empty
  };

  /// `head`: all other keys.
  LongObject(boost::json::object head, std::vector<List> lists)
      : head_(std::move(head)), lists_(std::move(lists)) {}

  bool add_piece(std::string& text) override;

 private:
  boost::json::object head_;
  std::vector<List> lists_;
  bool begun_ = false;
  bool first_ = true;  ///< the list has no item yet
  std::size_t list_ = 0;
  std::size_t part_ = 0;
};

/// Renders each long answer once for all callers, a millisecond at a time, and lets the loop do
/// everything else in between; the callers share its bytes. Later callers get the same answer for a
/// while: the longer it took, the longer, so that one answer takes at most a twentieth of the
/// loop's time, but 2 s at most. Different answers take turns, so that the loop is never busy for
/// much longer than a slice, however many are asked for. Life cycle: stop() before destruction,
/// after the servers; the runtime outlives it. Thread: the core loop.
class Renderer {
 public:
  using Begin = std::function<std::unique_ptr<Rendering>()>;

  explicit Renderer(runtime::Runtime& runtime);
  Renderer(const Renderer&) = delete;
  Renderer& operator=(const Renderer&) = delete;
  ~Renderer();

  /// `key`: answers with the same key are the same; the part before a `?` is the path. 503 when too
  /// many others, or others of that path, are under way.
  runtime::HttpResponse answer(std::string_view content_type, const std::string& key,
                               const Begin& begin);
  /// Call after a change: later requests are rendered again.
  void forget();
  runtime::Task<void> stop();

 private:
  struct Job;
  class Waiting;

  /// Renders for a moment; true when it is done.
  bool advance(Job& job);
  bool done_at_once(Job& job);
  [[nodiscard]] std::size_t under_way(std::string_view path) const;
  void forget_old();
  runtime::Task<void> work();

  runtime::Runtime& runtime_;
  std::map<std::string, std::shared_ptr<Job>, std::less<>> jobs_;  ///< by key
  std::deque<std::shared_ptr<Job>> queue_;
  bool working_ = false;
  TimePoint rest_until_;   ///< until then nothing is rendered out of turn
  std::size_t bytes_ = 0;  ///< bytes of the texts of all jobs, finished or not
  runtime::TaskGroup tasks_;
};

/// Through `renderer`, or at once when that is null.
runtime::HttpResponse rendered_answer(Renderer* renderer, std::string_view content_type,
                                      const std::string& key, const Renderer::Begin& begin);

}  // namespace wardmote::serve
