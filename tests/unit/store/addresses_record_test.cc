#include "store/addresses_record.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace wardmote::store {
namespace {

using Addresses = std::vector<std::string>;

TEST(AddressesRecord, IsReadAsItWasWritten) {
  EXPECT_EQ(addresses_key("ctl-1", "bird"), "addresses/ctl-1/bird");
  for (const Addresses& told : {Addresses{}, Addresses{"10.0.0.1"}, Addresses{"10.0.0.1", "fd::1"}})
    EXPECT_EQ(decode_addresses(encode_addresses(told)), told);
}

TEST(AddressesRecord, OfADamagedTextIsReadWhatThereIsUpToALimit) {
  EXPECT_EQ(decode_addresses("  10.0.0.1  x "), (Addresses{"10.0.0.1", "x"}));
  std::string endless;
  for (int i = 0; i < 5000; ++i) endless += "a ";
  EXPECT_EQ(decode_addresses(endless).size(), 1000U);
  EXPECT_EQ(decode_addresses(encode_addresses(Addresses(5000, "a"))).size(), 1000U);
}

}  // namespace
}  // namespace wardmote::store
