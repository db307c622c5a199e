#include "daemon/config_command.h"

#include <expected>
#include <string>
#include <utility>
#include <vector>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "codec/yaml_text.h"
#include "config/config.h"
#include "config/diff.h"
#include "config/effective.h"
#include "config/files.h"
#include "config/import/format.h"
#include "config/layout.h"
#include "config/load.h"
#include "config/problem.h"
#include "config/schema.h"
#include "config/sources.h"
#include "config/yaml.h"
#include "daemon/start_check.h"
#include "net/asio_runtime.h"
#include "observe/kinds.h"
#include "runtime/tls.h"

namespace wardmote::daemon {
namespace {

namespace json = boost::json;
using config::Environment;
using config::Files;

constexpr int kDiffers = 1;
constexpr int kBadConfig = 65;

ConfigAnswer refuse(const std::vector<std::string>& problems) {
  return {.exit_code = kBadConfig, .errors = fmt::format("{}\n", fmt::join(problems, "\n"))};
}

template <class T>
using Read = std::expected<T, std::vector<std::string>>;

/// The file as JSON: as it is written, or with every default.
Read<json::object> read(Files& files, const std::string& path, const Environment& overrides,
                        bool with_defaults) {
  net::AsioRuntime runtime;  // probes are made and let go; none looks
  config::YamlNode tree;
  config::Loaded loaded =
      config::load_config(files, {path, overrides}, observe::probe_kinds(), runtime, &tree);
  if (!loaded.config) return std::unexpected(std::move(loaded.problems));
  if (with_defaults) return config::effective(tree, *loaded.config);
  return config::to_json(tree).as_object();
}

/// What is wrong with the file, else what the start would refuse besides.
ConfigAnswer check(const ConfigOrder& order, Files& files, const Environment& overrides,
                   runtime::TlsLayer* tls) {
  const std::string& path = order.files.front();
  net::AsioRuntime runtime;  // probes are made and let go; none looks
  const config::Loaded loaded =
      config::load_config(files, {path, overrides}, observe::probe_kinds(), runtime);
  if (!loaded.config) return refuse(loaded.problems);
  std::vector<std::string> problems;
  for (const std::string& problem : start_problems(*loaded.config, runtime, tls))
    problems.push_back(fmt::format("{}: {}", path, escape_control(problem)));
  if (!problems.empty()) return refuse(problems);
  ConfigAnswer answer{.output = "ok\n"};
  for (const std::string& warning : warnings(*loaded.config)) {
    answer.errors += fmt::format("{}: warning: {}\n", path, warning);
  }
  return answer;
}

ConfigAnswer show(const ConfigOrder& order, Files& files, const Environment& overrides) {
  const auto good = read(files, order.files.front(), overrides, order.effective);
  return good ? ConfigAnswer{.output = codec::yaml_text(*good)} : refuse(good.error());
}

ConfigAnswer format(const ConfigOrder& order, Files& files) {
  const std::string& path = order.files.front();
  const Result<std::string> bytes = files.read(path, config::YamlLimits{}.bytes);
  if (!bytes) return refuse({fmt::format("{}: cannot be read: {}", path, bytes.error().context)});
  auto laid_out = config::lay_out(*bytes);
  if (!laid_out) return refuse({describe(path, laid_out.error())});
  if (!order.write) return {.output = *std::move(laid_out)};
  if (*laid_out == *bytes) return {};
  const Result<void> written = files.replace(path, *laid_out);
  if (!written)
    return refuse({fmt::format("{}: cannot be written: {}", path, written.error().context)});
  return {.output = fmt::format("{} is laid out\n", path)};
}

ConfigAnswer diff(const ConfigOrder& order, Files& files, const Environment& overrides) {
  const auto from = read(files, order.files.at(0), overrides, true);
  if (!from) return refuse(from.error());
  const auto to = read(files, order.files.at(1), overrides, true);
  if (!to) return refuse(to.error());
  ConfigAnswer answer;
  for (const config::Difference& one : config::differences(*from, *to)) {
    answer.exit_code = kDiffers;
    answer.output += fmt::format("{} {}\n", one.sign, one.what);
    for (const std::string& change : one.changes) answer.output += fmt::format("    {}\n", change);
  }
  return answer;
}

/// A configuration of another program, as one of the agent.
ConfigAnswer import_foreign(const ConfigOrder& order, Files& files) {
  std::vector<config::ForeignFile> foreign;
  for (const std::string& path : order.files) {
    Result<std::string> bytes = files.read(path, config::YamlLimits{}.bytes);
    if (!bytes) return refuse({fmt::format("{}: cannot be read: {}", path, bytes.error().context)});
    foreign.push_back({path, *std::move(bytes)});
  }
  const Result<config::Imported> made = config::import_files(foreign);
  // With several files each message names its own.
  const std::string whose = order.files.size() == 1 ? order.files.front() + ": " : "";
  if (!made) {
    const Error& error = made.error();
    return refuse({whose + (error.code == Errc::kLimit ? error.describe() : error.context)});
  }
  ConfigAnswer answer{.output = made->yaml};
  for (const std::string& note : made->notes)
    answer.errors += fmt::format("{}note: {}\n", whose, note);
  return answer;
}

}  // namespace

ConfigAnswer run_config(const ConfigOrder& order, Files& files, const Environment& overrides,
                        runtime::TlsLayer* tls) {
  switch (order.verb) {
    case ConfigVerb::kCheck: return check(order, files, overrides, tls);
    case ConfigVerb::kFormat: return format(order, files);
    case ConfigVerb::kShow: return show(order, files, overrides);
    case ConfigVerb::kDiff: return diff(order, files, overrides);
    case ConfigVerb::kImport: return import_foreign(order, files);
    case ConfigVerb::kSchema:
      return {.output = json::serialize(config::json_schema(observe::probe_kinds())) + "\n"};
  }
  return {};
}

}  // namespace wardmote::daemon
