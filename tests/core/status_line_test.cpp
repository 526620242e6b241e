// The first line of an answer. Texts are fed whole and in pieces; what is right is written beside them, and
// where there are too many, an oracle says it (tests/support/status_line_oracle.hpp).
#include "core/status_line.hpp"

#include <doctest/doctest.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/status_line_oracle.hpp"

namespace halfopen {
namespace {

using namespace std::literals;
using Progress = StatusLineReader::Progress;
using testing::answer_of;
using testing::broken_promise;
using testing::text_of;

std::string read(std::string_view text) {
  StatusLineReader reader;
  const Progress told = reader.feed(text);
  CHECK(told == reader.progress());
  return text_of(answer_of(reader));
}

std::string read_by_bytes(std::string_view text) {
  StatusLineReader reader;
  for (std::size_t i = 0; i < text.size(); ++i) reader.feed(text.substr(i, 1));
  return text_of(answer_of(reader));
}

// `length` bytes of a status line that has not ended.
std::string open_line(std::size_t length) {
  std::string line = "HTTP/1.1 200 ";
  line.resize(length, 'a');
  return line;
}

struct Line {
  std::string_view text;
  std::string answer;
};

const std::vector<Line> LINES{
    {"HTTP/1.1 200 OK\r\n"sv, "status 200 after 17 bytes"},
    {"HTTP/1.1 200 OK\n"sv, "status 200 after 16 bytes"},
    {"HTTP/1.1 200\n"sv, "status 200 after 13 bytes"},
    {"HTTP/1.1 200\r\n"sv, "status 200 after 14 bytes"},
    {"HTTP/1.1 200 \n"sv, "status 200 after 14 bytes"},
    {"HTTP/1.1 200 \r\n"sv, "status 200 after 15 bytes"},
    {"HTTP/1.1 200  \t two blanks\n"sv, "status 200 after 27 bytes"},
    {"HTTP/1.0 503 Service Unavailable\r\n"sv, "status 503 after 34 bytes"},
    {"HTTP/1.9 204 No Content\r\n"sv, "status 204 after 25 bytes"},
    {"HTTP/1.1 200 a\rb\r\r\n"sv, "status 200 after 19 bytes"},
    {"HTTP/1.1 200 \0\x80\xff\r\n"sv, "status 200 after 18 bytes"},
    // What comes behind the line is not looked at, whatever it is.
    {"HTTP/1.1 200\nHTTP/1.1 500\n"sv, "status 200 after 13 bytes"},
    {"HTTP/1.1 404 Not Found\r\n\r\n<html>\0"sv, "status 404 after 24 bytes"},
    {"HTTP/1.1 200\r\n\n"sv, "status 200 after 14 bytes"},
    // Another shape: told at the first byte that is wrong.
    {"\nHTTP/1.1 200\n"sv, "malformed after 1 bytes"},
    {"\r\nHTTP/1.1 200\r\n"sv, "malformed after 1 bytes"},
    {" HTTP/1.1 200\n"sv, "malformed after 1 bytes"},
    {"http/1.1 200\n"sv, "malformed after 1 bytes"},
    {"\0HTTP/1.1 200\n"sv, "malformed after 1 bytes"},
    {"\x16\x03\x01\x02"sv, "malformed after 1 bytes"},
    {"HTTp/1.1 200\n"sv, "malformed after 4 bytes"},
    {"HTTP 1.1 200\n"sv, "malformed after 5 bytes"},
    {"HTTP/2.0 200\n"sv, "malformed after 6 bytes"},
    {"HTTP/0.9 200\n"sv, "malformed after 6 bytes"},
    {"HTTP/11 200\n"sv, "malformed after 7 bytes"},
    {"HTTP/1.x 200\n"sv, "malformed after 8 bytes"},
    {"HTTP/1. 200\n"sv, "malformed after 8 bytes"},
    {"HTTP/1.10 200\n"sv, "malformed after 9 bytes"},
    {"HTTP/1.1\t200\n"sv, "malformed after 9 bytes"},
    {"HTTP/1.1\r\n200\n"sv, "malformed after 9 bytes"},
    {"HTTP/1.1\n"sv, "malformed after 9 bytes"},
    {"HTTP/1.1  200\n"sv, "malformed after 10 bytes"},
    {"HTTP/1.1 -20\n"sv, "malformed after 10 bytes"},
    {"HTTP/1.1 \n"sv, "malformed after 10 bytes"},
    {"HTTP/1.1 20\n"sv, "malformed after 12 bytes"},
    {"HTTP/1.1 20 OK\n"sv, "malformed after 12 bytes"},
    {"HTTP/1.1 2000\n"sv, "malformed after 13 bytes"},
    {"HTTP/1.1 200\tOK\n"sv, "malformed after 13 bytes"},
    {"HTTP/1.1 200OK\n"sv, "malformed after 13 bytes"},
    {"HTTP/1.1 200\0\n"sv, "malformed after 13 bytes"},
    {"HTTP/1.1 200\r OK\r\n"sv, "malformed after 14 bytes"},
    {"HTTP/1.1 200\r\r\n"sv, "malformed after 14 bytes"},
    // Nothing wrong so far, and nothing to be had from it either.
    {""sv, "more after 0 bytes"},
    {"HTTP/1.1 20"sv, "more after 11 bytes"},
    {"HTTP/1.1 200"sv, "more after 12 bytes"},
    {"HTTP/1.1 200 "sv, "more after 13 bytes"},
    {"HTTP/1.1 200\r"sv, "more after 13 bytes"},
    {"HTTP/1.1 200 OK\r"sv, "more after 16 bytes"},
};

TEST_CASE("status line: each shape gets its answer, fed whole and byte by byte") {
  for (const Line& line : LINES) {
    const std::string_view text = line.text;
    CAPTURE(text);
    CHECK(read(text) == line.answer);
    CHECK(read_by_bytes(text) == line.answer);
  }
}

TEST_CASE("status line: split at any two places it says the same, and each beginning what it is worth") {
  for (const Line& line : LINES) {
    const std::string_view text = line.text;
    CAPTURE(text);
    for (std::size_t first = 0; first <= text.size(); ++first) {
      for (std::size_t second = first; second <= text.size(); ++second) {
        StatusLineReader reader;
        reader.feed(text.substr(0, first));
        const std::string begun = text_of(answer_of(reader));
        reader.feed(text.substr(first, second - first));
        reader.feed(text.substr(second));
        REQUIRE(begun == text_of(testing::line_oracle(text.substr(0, first))));
        REQUIRE(text_of(answer_of(reader)) == line.answer);
      }
    }
  }
}

TEST_CASE("status line: until its last byte a good one is neither answered nor refused") {
  for (const std::string_view line : {"HTTP/1.1 200 OK\r\n"sv, "HTTP/1.0 404\n"sv, "HTTP/1.1 500\r\n"sv}) {
    for (std::size_t n = 0; n < line.size(); ++n) {
      CHECK(read(line.substr(0, n)) == "more after " + std::to_string(n) + " bytes");
    }
    CHECK(read(line).substr(0, 6) == "status");
  }
}

TEST_CASE("status line: of 256 bytes each place takes those that belong there") {
  const std::string line = "HTTP/1.1 200\r\n";
  for (std::size_t place = 0; place < line.size(); ++place) {
    std::string taken;
    for (int byte = 0; byte < 256; ++byte) {
      std::string text = line.substr(0, place) + static_cast<char>(byte);
      const std::string answer = read(text);
      if (answer.substr(0, 9) != "malformed") taken += static_cast<char>(byte);
      CHECK(answer.find(" after " + std::to_string(place + 1) + " bytes") != answer.npos);
    }
    CAPTURE(place);
    if (place == 7 || (place >= 9 && place <= 11)) {
      CHECK(taken == "0123456789");
    } else if (place == 12) {
      CHECK(taken == "\n\r ");
    } else {
      CHECK(taken == line.substr(place, 1));
    }
  }
}

TEST_CASE("status line: a reason may hold any byte but the line feed that ends it") {
  for (int byte = 0; byte < 256; ++byte) {
    const std::string text = "HTTP/1.1 301 x" + std::string(1, static_cast<char>(byte)) + "y\n";
    CHECK(read(text) == (byte == '\n' ? "status 301 after 15 bytes" : "status 301 after 17 bytes"));
  }
}

TEST_CASE("status line: the cap is 4,096 bytes, the line's end among them") {
  CHECK(read(open_line(4095)) == "more after 4095 bytes");
  CHECK(read(open_line(4094) + "\n") == "status 200 after 4095 bytes");
  CHECK(read(open_line(4095) + "\n") == "status 200 after 4096 bytes");
  CHECK(read(open_line(4094) + "\r\n") == "status 200 after 4096 bytes");
  CHECK(read(open_line(4096)) == "too_long after 4096 bytes");
  CHECK(read(open_line(4096) + "\n") == "too_long after 4096 bytes");
  CHECK(read(open_line(4095) + "\r\n") == "too_long after 4096 bytes");
  CHECK(read(open_line(4097)) == "too_long after 4096 bytes");
  CHECK(read(open_line(100'000)) == "too_long after 4096 bytes");
  CHECK(read_by_bytes(open_line(4095)) == "more after 4095 bytes");
  CHECK(read_by_bytes(open_line(4095) + "\n") == "status 200 after 4096 bytes");
  CHECK(read_by_bytes(open_line(4096) + "\n") == "too_long after 4096 bytes");
  CHECK(StatusLineReader::MAX_BYTES == 4096);
}

TEST_CASE("status line: once it has answered, nothing changes the answer") {
  for (const std::string& answered : {"HTTP/1.1 503\n"s, "HTTP/2"s, open_line(4096)}) {
    StatusLineReader reader;
    reader.feed(answered);
    const std::string before = text_of(answer_of(reader));
    for (const std::string_view more : {""sv, "\n"sv, "HTTP/1.1 200 OK\r\n"sv}) {
      CHECK(reader.feed(more) == reader.progress());
      CHECK(text_of(answer_of(reader)) == before);
    }
  }
}

TEST_CASE("status line: three digits are a status from 000 to 999, and 2xx alone is a success") {
  for (unsigned status = 0; status < 1000; ++status) {
    const std::string digits = std::to_string(1000 + status).substr(1);
    StatusLineReader reader;
    REQUIRE(reader.feed("HTTP/1.1 " + digits + "\r\n") == Progress::status);
    REQUIRE(reader.status() == status);
    REQUIRE(is_probe_success(reader.status()) == (digits[0] == '2'));
  }
  for (const unsigned success : {200U, 204U, 299U}) CHECK(is_probe_success(success));
  for (const unsigned failure : {0U, 99U, 100U, 199U, 300U, 301U, 404U, 500U, 999U, 1200U}) {
    CHECK_FALSE(is_probe_success(failure));
  }
}

// Readers with one fault each, of the kinds that are easily made.
struct Forgetful : StatusLineReader {  // takes each segment for the whole answer
  Progress feed(std::string_view bytes) noexcept {
    if (!bytes.empty()) static_cast<StatusLineReader&>(*this) = {};
    return StatusLineReader::feed(bytes);
  }
};
struct Greedy : StatusLineReader {  // counts a segment whole, whatever is behind the line's end
  Progress feed(std::string_view bytes) noexcept {
    got += bytes.size();
    return StatusLineReader::feed(bytes);
  }
  std::size_t bytes_read() const noexcept { return got; }
  std::size_t got = 0;
};
struct Endless : StatusLineReader {  // has no cap
  Progress progress() const noexcept {
    const Progress told = StatusLineReader::progress();
    return told == Progress::too_long ? Progress::more : told;
  }
};
struct Shouting : StatusLineReader {  // takes lower case for upper case
  Progress feed(std::string_view bytes) noexcept {
    for (const char c : bytes) {
      const char upper = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
      StatusLineReader::feed({&upper, 1});
    }
    return progress();
  }
};

TEST_CASE("status line: the oracle of the fuzz target agrees with the reader and finds the broken ones") {
  std::vector<std::string> texts{open_line(4095) + "\n", open_line(4096) + "\n", open_line(5000)};
  for (const Line& line : LINES) texts.emplace_back(line.text);
  for (const std::string& text : texts) {
    CAPTURE(text.substr(0, 40));
    for (const std::string_view steps : {""sv, "\x01"sv, "\x02\x05\xff"sv}) {
      CHECK(broken_promise<StatusLineReader>(text, steps).empty());
    }
  }
  CHECK(broken_promise<Forgetful>("HTTP/1.1 200\n", "").empty());
  CHECK(broken_promise<Forgetful>("HTTP/1.1 200\n", "\x05") ==
        "fed to 10: malformed after 1 bytes, not more after 10 bytes");
  CHECK(broken_promise<Greedy>("HTTP/1.1 200\n\n", "") ==
        "in one piece: status 200 after 14 bytes, not status 200 after 13 bytes");
  CHECK(broken_promise<Endless>(open_line(4095), "").empty());
  CHECK(broken_promise<Endless>(open_line(4096), "") ==
        "in one piece: more after 4096 bytes, not too_long after 4096 bytes");
  CHECK(broken_promise<Shouting>("http/1.1 200\n", "") ==
        "in one piece: status 200 after 13 bytes, not malformed after 1 bytes");
}

}  // namespace
}  // namespace halfopen
