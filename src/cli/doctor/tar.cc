#include "cli/doctor/tar.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/format.h"

namespace wardmote::cli {
namespace {

constexpr std::size_t kBlock = 512;

/// Where the fields of a header are.
constexpr std::size_t kMode = 100;
constexpr std::size_t kOwner = 108;
constexpr std::size_t kGroup = 116;
constexpr std::size_t kSize = 124;
constexpr std::size_t kTime = 136;
constexpr std::size_t kChecksum = 148;
constexpr std::size_t kType = 156;
constexpr std::size_t kMagic = 257;

void put(std::string& header, std::size_t at, std::string_view text) {
  header.replace(at, text.size(), text);
}

}  // namespace

void Tar::add(std::string_view name, std::string_view bytes) {
  check(name.size() <= kMode, "the name of a file in an archive");
  std::string header(kBlock, '\0');
  put(header, 0, name);
  put(header, kMode, "0000600");
  put(header, kOwner, "0000000");
  put(header, kGroup, "0000000");
  put(header, kSize, fmt::format("{:011o}", bytes.size()));
  put(header, kTime, fmt::format("{:011o}", written_at_));
  put(header, kType, "0");
  put(header, kMagic,
      std::string_view("ustar\0"
                       "00",
                       8));
  // The sum of the header's bytes, with the field of the sum itself as spaces.
  put(header, kChecksum, "        ");
  unsigned sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  put(header, kChecksum, fmt::format("{:06o}", sum) + std::string("\0 ", 2));
  archive_ += header;
  archive_ += bytes;
  archive_.append((kBlock - bytes.size() % kBlock) % kBlock, '\0');
}

std::string Tar::take() && {
  archive_.append(2 * kBlock, '\0');
  return std::move(archive_);
}

}  // namespace wardmote::cli
