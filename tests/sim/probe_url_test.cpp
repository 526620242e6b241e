#include "sim/probe_url.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

using namespace halfopen::sim;

namespace {

// scheme host port path, or the sentence.
std::string read(const std::string& text) {
  std::string problem = "what an earlier call left";
  const auto url = read_probe_url(text, problem);
  CHECK_MESSAGE(url.has_value() == problem.empty(), text);
  if (!url) return problem;
  const char* scheme = url->scheme == ProbeScheme::tcp ? "tcp" : "http";
  return std::string(url->scheme == ProbeScheme::https ? "https" : scheme) + ' ' + url->host + ' ' +
         std::to_string(url->port) + ' ' + url->path;
}

using Table = std::vector<std::pair<std::string, std::string>>;

void check(const Table& table) {
  for (const auto& row : table) CHECK_MESSAGE(read(row.first) == row.second, row.first);
}

// A name of exactly so many characters, in labels of at most 63.
std::string name_of(std::size_t length) {
  std::string name;
  while (name.size() < length) name += name.size() % 64 == 63 ? '.' : 'a';
  return name;
}

}  // namespace

TEST_CASE("probe url: every scheme with what it leaves out filled in") {
  check({
      {"http://api.example", "http api.example 80 /"},
      {"https://api.example", "https api.example 443 /"},
      {"http://api.example/", "http api.example 80 /"},
      {"https://api.example:80/healthz?deep=1&x=/", "https api.example 80 /healthz?deep=1&x=/"},
      {"http://api.example?deep", "http api.example 80 /?deep"},
      {"http://api.example:8080?a://b", "http api.example 8080 /?a://b"},
      {"http://h/a@b:c", "http h 80 /a@b:c"},
      {"HTTPS://Api.Example/Path", "https Api.Example 443 /Path"},
      {"tcp://127.0.0.1:6379", "tcp 127.0.0.1 6379 "},
      {"http://a_b-c.d9.example.", "http a_b-c.d9.example. 80 /"},
      {"http://4.example", "http 4.example 80 /"},
      {"http://0xg", "http 0xg 80 /"},
  });
}

TEST_CASE("probe url: IPv6 addresses stand in brackets and lose them") {
  check({
      {"http://[::1]:8080/", "http ::1 8080 /"},
      {"http://[::]", "http :: 80 /"},
      {"https://[2001:DB8::1]", "https 2001:DB8::1 443 /"},
      {"tcp://[::ffff:10.0.0.1]:1", "tcp ::ffff:10.0.0.1 1 "},
      {"http://[fe80::1%25eth0]/x", "http fe80::1%eth0 80 /x"},
      {"http://[fe80::1%eth0.1]/x", "http fe80::1%eth0.1 80 /x"},
      {"http://::1:8080/",
       "'::1:8080' has several colons: write an IPv6 address in brackets, http://[::1:8080]"},
      {"http://a:b:c/", "'a:b:c' has several colons: write an IPv6 address in brackets, http://[::1]"},
      {"http://[::1", "'[::1' has no closing bracket: write [::1]"},
      {"http://[api]:80", "'api' is no IPv6 address: write one as [::1], a name without brackets"},
      {"http://[]", "'' is no IPv6 address: write one as [::1], a name without brackets"},
      {"http://[::1]8080", "'8080' follows the bracket: write a port as [::1]:8080"},
      {"http://[fe80::1%25]", "'[fe80::1%25]' names no interface: write [fe80::1%25eth0]"},
      {"http://[fe80::1%a%b]", "'[fe80::1%a%b]' names no interface: write [fe80::1%25eth0]"},
  });
}

TEST_CASE("probe url: IPv6 in all of its forms, and none that is not") {
  for (const char* good :
       {"::", "::1", "1::", "1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7::", "::2:3:4:5:6:7:8", "1:2:3:4:5:6:1.2.3.4",
        "::1.2.3.4", "1::1.2.3.4", "fFfF::0000", "1:2:3:4:5::1.2.3.4"}) {
    CHECK_MESSAGE(is_ipv6(good), good);
  }
  for (const char* bad : {"",
                          ":",
                          ":::",
                          "1",
                          "1:",
                          ":1",
                          "1:2:3:4:5:6:7",
                          "1:2:3:4:5:6:7:8:9",
                          "1:2:3:4:5:6:7:8::",
                          "1::2::3",
                          "1:::2",
                          "12345::",
                          "g::",
                          "1:2:3:4:5:6:7:1.2.3.4",
                          "1.2.3.4::",
                          "::1.2.3",
                          "::1.2.3.4:5",
                          "1.2.3.4",
                          "1:2:3:4::5:6:1.2.3.4:",
                          "::1%eth0",
                          " ::1"}) {
    CHECK_MESSAGE(!is_ipv6(bad), bad);
  }
}

TEST_CASE("probe url: IPv4 is four plain decimal numbers") {
  for (const char* good : {"0.0.0.0", "127.0.0.1", "255.255.255.255", "1.20.100.9"}) {
    CHECK_MESSAGE(is_ipv4(good), good);
  }
  for (const char* bad : {"", "1", "1.2.3", "1.2.3.4.5", "1.2.3.256", "01.2.3.4", "1.2.3.0004", "1..2.3",
                          "1.2.3.", ".1.2.3", "1.2.3.x", "+1.2.3.4", "1.2.3.4 "}) {
    CHECK_MESSAGE(!is_ipv4(bad), bad);
  }
}

TEST_CASE("probe url: what is missing or too much is told with what would be right") {
  check({
      {"", "it is empty: write http://HOST, https://HOST or tcp://HOST:PORT"},
      {"localhost:8080",
       "'localhost:8080' has no scheme: write http://HOST, https://HOST or tcp://HOST:PORT"},
      {"http:/h", "'http:/h' has no scheme: write http://HOST, https://HOST or tcp://HOST:PORT"},
      {"h/http://x", "'h/http://x' has no scheme: write http://HOST, https://HOST or tcp://HOST:PORT"},
      {"ftp://h", "'ftp' is no scheme that can be probed: write http, https or tcp"},
      {"://h", "'' is no scheme that can be probed: write http, https or tcp"},
      {"http://", "the host is missing: write http://HOST"},
      {"https:///healthz", "the host is missing: write https://HOST"},
      {"tcp://:80", "the host is missing: write tcp://HOST:PORT"},
      {"tcp://h", "tcp has no port of its own: write tcp://HOST:PORT"},
      {"tcp://h:1/", "a tcp probe only connects: leave out '/'"},
      {"tcp://h:1?x", "a tcp probe only connects: leave out '?x'"},
      {"http://me:secret@h/", "a probe sends no credentials: leave out what stands before the @"},
      {"http://h/#top", "a fragment is never sent: leave out '#top'"},
      {"http://h#", "a fragment is never sent: leave out '#'"},
  });
}

TEST_CASE("probe url: a port is a whole number from 1 to 65535") {
  check({
      {"http://h:1", "http h 1 /"},
      {"http://h:65535", "http h 65535 /"},
      {"http://h:0080", "http h 80 /"},
      {"http://h:0", "'0' is no port: write a whole number from 1 to 65535"},
      {"http://h:65536", "'65536' is no port: write a whole number from 1 to 65535"},
      {"http://h:4294967376", "'4294967376' is no port: write a whole number from 1 to 65535"},
      {"http://h:99999999999999999999",
       "'99999999999999999999' is no port: write a whole number from 1 to 65535"},
      {"http://h:-1", "'-1' is no port: write a whole number from 1 to 65535"},
      {"http://h:http", "'http' is no port: write a whole number from 1 to 65535"},
      {"http://h:/x", "nothing follows the colon: write a port, 1 to 65535, or no colon"},
      {"tcp://[::1]:", "nothing follows the colon: write a port, 1 to 65535, or no colon"},
  });
}

TEST_CASE("probe url: host names keep to their letters and lengths") {
  CHECK(read("http://" + name_of(253)) == "http " + name_of(253) + " 80 /");
  CHECK(read("http://" + name_of(253) + "./") == "http " + name_of(253) + ". 80 /");
  CHECK(read("http://" + name_of(254)) == "the host name has 254 characters: it may have 253");
  CHECK(read("http://x." + std::string(63, 'a')) == "http x." + std::string(63, 'a') + " 80 /");
  CHECK(read("http://x." + std::string(64, 'a')) ==
        "'" + std::string(23, 'a') + "..." + std::string(22, 'a') +
            "' in the host name has 64 characters: between dots there may be 63");
  check({
      {"http://a..b/", "'a..b' has nothing before or after a dot: write a.example"},
      {"http://.a/", "'.a' has nothing before or after a dot: write a.example"},
      {"http://./", "'.' has nothing before or after a dot: write a.example"},
      {"http://a,b/", "'a,b' has a ',': a host name has letters, digits, - and _ between dots"},
      {"http://a%41/", "'a%41' has a '%': a host name has letters, digits, - and _ between dots"},
      {"http://a\\b/", "'a\\b' has a '\\': a host name has letters, digits, - and _ between dots"},
      {"http://10.0.0.256/", "'10.0.0.256' is no IPv4 address: write four numbers up to 255, as in 10.0.0.1"},
      {"http://127.1/", "'127.1' is no IPv4 address: write four numbers up to 255, as in 10.0.0.1"},
      {"http://010.0.0.1/", "'010.0.0.1' is no IPv4 address: write four numbers up to 255, as in 10.0.0.1"},
      {"http://0x7f000001/", "'0x7f000001' is no IPv4 address: write four numbers up to 255, as in 10.0.0.1"},
      {"http://1.0x/", "'1.0x' is no IPv4 address: write four numbers up to 255, as in 10.0.0.1"},
  });
}

TEST_CASE("probe url: nothing that can't be printed gets into a request line or a sentence") {
  check({
      {"http://h/a b", "byte 11 is a blank: write %20 in a path, and none elsewhere"},
      {" http://h/", "byte 1 is a blank: write %20 in a path, and none elsewhere"},
      {"http://h/\r\nX: y", "byte 10 is a control character: write %0D in a path, and none elsewhere"},
      {"http://h/\x7f", "byte 10 is a control character: write %7F in a path, and none elsewhere"},
      {std::string("http://h/\0", 10),
       "byte 10 is a control character: write %00 in a path, and none elsewhere"},
      {"http://b\xc3\xbc"
       "cher.example",
       "byte 9 is not ASCII: write a host name in its xn-- form, a path with %XX"},
  });
}
