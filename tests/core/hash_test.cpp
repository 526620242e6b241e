#include "core/hash.hpp"

#include <doctest/doctest.h>

using halfopen::stable_hash;
using halfopen::StableHash;

// The values come from an independent implementation in Python; streams, rings and fingerprints hang on them.
TEST_CASE("hash: the values that file formats hang on stay what they are") {
  CHECK(stable_hash("") == 0xefd01f60ba992926);
  CHECK(stable_hash("a") == 0x82a2a958a9bece5b);
  CHECK(stable_hash("arrivals:0") == 0xcb290d6bb229f2e0);
  CHECK(stable_hash("service:api/10.0.0.1:8080") == 0xfa71e7f7e9d490cd);
  static_assert(stable_hash("a") == 0x82a2a958a9bece5b, "usable in constant expressions");
}

TEST_CASE("hash: bytes may arrive in pieces of any size") {
  StableHash hash;
  hash.add("arri");
  hash.add("");
  hash.add_byte('v');
  hash.add("als:0");
  CHECK(hash.finish() == stable_hash("arrivals:0"));
  CHECK(hash.finish() == stable_hash("arrivals:0"));  // asking changes nothing
  hash.add("0");
  CHECK(hash.finish() == stable_hash("arrivals:00"));
}

TEST_CASE("hash: integers go in with the most significant byte first") {
  StableHash port;
  port.add_u16_be(8080);
  CHECK(port.finish() == 0xb08fa1b5eaaf7327);  // of the bytes 1f 90
  StableHash point;
  point.add_u64_be(0x0001020304050607);
  CHECK(point.finish() == 0xa210c59b8c2b49c1);  // of the bytes 00 01 … 07
}

TEST_CASE("hash: bytes above 127 are bytes, whatever the sign of char") {
  StableHash hash;
  hash.add_byte(0xFF);
  CHECK(hash.finish() == stable_hash("\xFF"));
}

TEST_CASE("hash: neighbouring keys land far apart") {
  const auto distance = stable_hash("client-1") ^ stable_hash("client-2");
  CHECK((distance >> 56) != 0);  // plain FNV-1a leaves the upper bits nearly alone
}
