#include "agent/options.h"

#include <CLI/CLI.hpp>
#include <expected>
#include <map>
#include <sstream>
#include <string>

#include "agent/log_line.h"
#include "base/log.h"
#include "base/version.h"

namespace wardmote::agent {
namespace {

constexpr int kUsage = 64;

constexpr const char* kExamples = R"(Examples:
  wardmoted --config wardmote.yaml --check     is the file good? prints every problem with its place
  wardmoted --config wardmote.yaml             run in the foreground, log to standard error
  wardmoted --log-format json --log-level warning

A changed file takes effect by itself within seconds, or at once with SIGHUP; one that is not valid
is refused whole. SIGTERM and SIGINT end the agent in order.
Exit codes: 0 ended in order, 64 usage, 65 bad configuration, 69 the API address cannot be served.)";

}  // namespace

std::expected<Options, Farewell> parse_options(int argc, const char* const* argv) {
  static const std::map<std::string, LogLevel> kLevels = {{"debug", LogLevel::kDebug},
                                                          {"info", LogLevel::kInfo},
                                                          {"warning", LogLevel::kWarning},
                                                          {"error", LogLevel::kError}};
  static const std::map<std::string, LogFormat> kFormats = {{"kv", LogFormat::kKeyValue},
                                                            {"json", LogFormat::kJson}};
  Options options;
  CLI::App app("Watches control planes, compares what their members say, and serves the verdict.",
               "wardmoted");
  app.footer(kExamples);
  app.set_version_flag("--version", "wardmoted " + std::string(kVersion));
  app.add_option("--config", options.config, "Configuration file")
      ->type_name("FILE")
      ->capture_default_str();
  app.add_flag("--check", options.check,
               "Check the configuration, print 'ok' or every problem, and end");
  app.add_option("--log-level", options.log_level, "Least level that is logged (info)")
      ->type_name("debug|info|warning|error")
      ->transform(CLI::CheckedTransformer(kLevels).description(""));
  app.add_option("--log-format", options.log_format, "key=value or JSON lines (kv)")
      ->type_name("kv|json")
      ->transform(CLI::CheckedTransformer(kFormats).description(""));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::ostringstream out;
    std::ostringstream err;
    const bool asked = app.exit(error, out, err) == 0;
    return std::unexpected(asked ? Farewell{0, out.str()} : Farewell{kUsage, err.str()});
  }
  return options;
}

}  // namespace wardmote::agent
