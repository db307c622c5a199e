// Answers of a web server and output of a plugin: no crash, bounded memory, and pieces of any size
// read the same.
#include <algorithm>

#include "codec/http_answer.h"
#include "codec/plugin_output.h"
#include "codec/url.h"
#include "fuzz/fuzz_check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace wardmote;
  if (size == 0) return 0;
  const std::size_t step = data[0] + 1U;
  const std::string_view bytes = fuzz::text(data + 1, size - 1);
  codec::HttpAnswerReader whole;
  const bool taken = whole.take(bytes).has_value();
  codec::HttpAnswerReader pieces;
  bool same = true;
  for (std::string_view rest = bytes; !rest.empty() && same;) {
    same = pieces.take(rest.substr(0, step)).has_value();
    rest.remove_prefix(std::min(step, rest.size()));
  }
  FUZZ_CHECK(taken == same);
  if (taken) {
    FUZZ_CHECK(whole.complete() == pieces.complete());
    FUZZ_CHECK(whole.answer().status == pieces.answer().status);
    FUZZ_CHECK(whole.answer().body == pieces.answer().body);
  }
  FUZZ_CHECK(whole.answer().body.size() <= codec::HttpAnswerLimits().body_bytes);
  FUZZ_CHECK(codec::parse_plugin_output(bytes).values.size() <= 64);
  const Result<codec::Url> url = codec::parse_url(bytes);
  if (url) {
    FUZZ_CHECK(codec::parse_url(to_string(*url)) == *url);
    static_cast<void>(codec::resolve(*url, bytes));
  }
  return 0;
}
