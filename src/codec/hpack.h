#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace wardmote::codec {

/// One field of a header.
struct HeaderField {
  std::string name;
  std::string value;
  friend bool operator==(const HeaderField&, const HeaderField&) = default;
};

/// Reads header blocks of HTTP/2 (RFC 7541). One for each connection: blocks refer to earlier ones.
/// After an error the connection is of no more use.
class HpackDecoder {
 public:
  /// `table_bytes`: what was announced by SETTINGS_HEADER_TABLE_SIZE; 4096 without. `list_bytes`:
  /// of one block, as RFC 7541 4.1 counts them.
  explicit HpackDecoder(std::size_t table_bytes = 4096, std::size_t list_bytes = 16 << 10) noexcept
      : most_(table_bytes), limit_(table_bytes), list_bytes_(list_bytes) {}

  /// One whole header block. kProtocol, kLimit.
  Result<std::vector<HeaderField>> decode(std::string_view block);

 private:
  Result<HeaderField> read_field(std::string_view& rest);
  Result<HeaderField> entry(std::uint64_t index) const;
  void remember(HeaderField field);
  void shrink(std::size_t bytes);

  std::size_t most_;
  std::size_t limit_;
  std::size_t list_bytes_;
  std::deque<HeaderField> table_;  ///< the newest first
  std::size_t held_ = 0;
};

/// A field that no table remembers (RFC 7541 6.2.2), neither part compressed.
void encode_field(std::string& into, std::string_view name, std::string_view value);

/// Text in the code of RFC 7541, Appendix B. kProtocol.
Result<std::string> decode_huffman(std::string_view bytes);

}  // namespace wardmote::codec
