#include "config/packed_text.h"

#include <zlib.h>

#include <string>
#include <string_view>

#include "base/check.h"

namespace wardmote::config {
namespace {

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

}  // namespace

PackedText::PackedText(std::string_view text) : length_(text.size()) {
  if (text.empty()) return;
  unsigned long size = ::compressBound(text.size());
  std::string packed(size, '\0');
  const int done = ::compress2(reinterpret_cast<unsigned char*>(packed.data()), &size,
                               bytes_of(text), text.size(), Z_BEST_SPEED);
  check(done == Z_OK, "a text was not compressed");
  packed_.assign(packed, 0, size);  // a copy, which takes no more than it needs
}

std::string PackedText::text() const {
  std::string text(length_, '\0');
  if (empty()) return text;
  unsigned long size = length_;
  const int done = ::uncompress(reinterpret_cast<unsigned char*>(text.data()), &size,
                                bytes_of(packed_), packed_.size());
  check(done == Z_OK && size == length_, "a text that was compressed here is damaged");
  return text;
}

}  // namespace wardmote::config
