#pragma once

#include <array>
#include <boost/json/value.hpp>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "codec/json_rpc.h"

namespace wardmote::codec {

/// What a database contains, in 128 bits: the sum of a hash of each row, so the order in which rows
/// came does not matter, and a change costs what the changed rows cost. Two copies with the same
/// digest have the same rows. It does not protect against somebody who looks for collisions.
struct Digest {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  friend auto operator<=>(const Digest&, const Digest&) = default;
};

/// 32 hexadecimal digits.
std::string to_string(const Digest& digest);

/// The tables in the reply to `get_schema`, sorted. kProtocol, kLimit over 256.
Result<std::vector<std::string>> read_tables(const RpcMessage& reply);
/// The params of a `monitor` of all rows of these tables (RFC 7047 4.1.5), but for those that
/// ovn-northd computes from the other database.
std::string watch_content(std::string_view database, const std::vector<std::string>& tables);

/// Follows the content of one database through the reply to `monitor` and its `update`s. Keeps a
/// hash of each row, and no row. Columns that ovsdb-server makes up for itself and does not
/// replicate (`status` and `is_connected` of `Connection`, ovn-nb(5)) do not count. Pure.
class ContentTracker {
 public:
  static constexpr std::size_t kMostRows = 4'000'000;

  /// Takes the reply to the `monitor`, and forgets all earlier rows.
  Result<void> begin(const RpcMessage& reply);
  /// Takes an `update`; returns whether the content changed. Other notifications change nothing.
  /// After an error the content is not known, until begin().
  Result<bool> apply(const RpcMessage& notification);

  [[nodiscard]] const Digest& digest() const noexcept { return sum_; }
  [[nodiscard]] std::size_t rows() const noexcept { return rows_.size(); }

 private:
  using RowKey = std::array<std::uint64_t, 2>;  ///< of table and UUID

  Result<void> apply_tables(const boost::json::value& tables);
  Result<void> apply_row(std::string_view table, std::string_view uuid,
                         const boost::json::value& change);
  void add(const Digest& hash) noexcept;
  void subtract(const Digest& hash) noexcept;

  Digest sum_;
  std::map<RowKey, Digest> rows_;
};

}  // namespace wardmote::codec
