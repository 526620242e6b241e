#include "sim/probe_url.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "sim/text_layout.hpp"

namespace halfopen::sim {

namespace {

constexpr std::size_t MAX_NAME = 253, MAX_LABEL = 63;
constexpr std::size_t SHOWN = 48;  // columns of what is quoted in a sentence

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_label_char(char c) { return is_letter(c) || is_digit(c) || c == '-' || c == '_'; }

template <class Is>
bool all(std::string_view text, Is is) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is);
}

std::string shown(std::string_view text) { return '\'' + shorten(text, SHOWN, true) + '\''; }

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(at);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

// How many of the eight groups these are, or 9 if one is none. An IPv4 address at the end counts as two.
std::size_t groups_of(std::string_view text, bool may_end_in_ipv4) {
  if (text.empty()) return 0;
  const auto groups = split(text, ':');
  std::size_t count = 0;
  for (std::size_t n = 0; n < groups.size(); ++n) {
    if (groups[n].size() <= 4 && all(groups[n], is_hex)) {
      ++count;
    } else if (may_end_in_ipv4 && n + 1 == groups.size() && is_ipv4(groups[n])) {
      count += 2;
    } else {
      return 9;
    }
  }
  return count;
}

class UrlReader {
 public:
  UrlReader(std::string_view text, std::string& problem) : text_(text), problem_(problem) {}

  bool read(ProbeUrl& url) {
    std::string_view rest = text_;
    if (!characters() || !scheme(rest, url)) return false;
    if (const std::size_t hash = rest.find('#'); hash != std::string_view::npos) {
      return refuse("a fragment is never sent: leave out " + shown(rest.substr(hash)));
    }
    const std::size_t end = std::min(rest.find_first_of("/?"), rest.size());
    return authority(rest.substr(0, end), url) && path(rest.substr(end), url);
  }

 private:
  bool refuse(std::string why) {
    problem_ = std::move(why);
    return false;
  }

  // First of all, so that whatever is quoted later can be printed.
  bool characters() {
    if (text_.empty()) return refuse("it is empty: write http://HOST, https://HOST or tcp://HOST:PORT");
    for (std::size_t at = 0; at < text_.size(); ++at) {
      const auto c = static_cast<unsigned char>(text_[at]);
      if (c > ' ' && c < 0x7f) continue;
      if (c >= 0x80) {
        return refuse(
            fmt::format("byte {} is not ASCII: write a host name in its xn-- form, a path with %XX", at + 1));
      }
      return refuse(fmt::format("byte {} is a {}: write %{:02X} in a path, and none elsewhere", at + 1,
                                c == ' ' ? "blank" : "control character", c));
    }
    return true;
  }

  bool scheme(std::string_view& rest, ProbeUrl& url) {
    const std::size_t end = rest.find("://");
    if (end == std::string_view::npos || end > rest.find_first_of("/?#")) {
      return refuse(
          fmt::format("{} has no scheme: write http://HOST, https://HOST or tcp://HOST:PORT", shown(text_)));
    }
    std::string name(rest.substr(0, end));
    for (char& c : name) {
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    rest.remove_prefix(end + 3);
    if (name == "http") {
      url.scheme = ProbeScheme::http;
    } else if (name == "https") {
      url.scheme = ProbeScheme::https;
    } else if (name == "tcp") {
      url.scheme = ProbeScheme::tcp;
    } else {
      return refuse(fmt::format("{} is no scheme that can be probed: write http, https or tcp", shown(name)));
    }
    scheme_ = name;
    return true;
  }

  bool authority(std::string_view text, ProbeUrl& url) {
    if (text.find('@') != std::string_view::npos) {
      return refuse("a probe sends no credentials: leave out what stands before the @");
    }
    if (text.starts_with('[')) return bracketed(text, url);
    const std::size_t colon = text.find(':');
    if (colon != text.rfind(':')) {
      return refuse(fmt::format("{} has several colons: write an IPv6 address in brackets, {}://[{}]",
                                shown(text), scheme_, is_ipv6(text) ? text : "::1"));
    }
    if (!name(text.substr(0, colon))) return false;
    url.host = text.substr(0, colon);
    return port(text.substr(std::min(colon, text.size())), url);
  }

  bool bracketed(std::string_view text, ProbeUrl& url) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos) {
      return refuse(fmt::format("{} has no closing bracket: write [::1]", shown(text)));
    }
    std::string_view address = text.substr(1, end - 1), zone;
    if (const std::size_t percent = address.find('%'); percent != std::string_view::npos) {
      zone = address.substr(percent + 1);
      address = address.substr(0, percent);
      if (zone.starts_with("25")) zone.remove_prefix(2);  // RFC 6874 writes the % of a zone as %25
      if (!all(zone, [](char c) { return is_label_char(c) || c == '.' || c == '~'; })) {
        return refuse(fmt::format("{} names no interface: write [fe80::1%25eth0]", shown(text)));
      }
    }
    if (!is_ipv6(address)) {
      return refuse(
          fmt::format("{} is no IPv6 address: write one as [::1], a name without brackets", shown(address)));
    }
    url.host = address;
    if (!zone.empty()) (url.host += '%') += zone;
    return port(text.substr(end + 1), url);
  }

  bool name(std::string_view host) {
    if (host.empty())
      return refuse("the host is missing: write " + scheme_ +
                    (scheme_ == "tcp" ? "://HOST:PORT" : "://HOST"));
    if (host.ends_with('.') && host.size() > 1) host.remove_suffix(1);  // the root, which may be written
    if (host.size() > MAX_NAME) {
      return refuse(fmt::format("the host name has {} characters: it may have {}", host.size(), MAX_NAME));
    }
    const auto labels = split(host, '.');
    for (const std::string_view label : labels) {
      if (label.empty()) return refuse(shown(host) + " has nothing before or after a dot: write a.example");
      if (label.size() > MAX_LABEL) {
        return refuse(fmt::format("{} in the host name has {} characters: between dots there may be {}",
                                  shown(label), label.size(), MAX_LABEL));
      }
      const auto wrong = std::find_if_not(label.begin(), label.end(), is_label_char);
      if (wrong != label.end()) {
        return refuse(fmt::format("{} has a '{}': a host name has letters, digits, - and _ between dots",
                                  shown(host), *wrong));
      }
    }
    // What ends in a number is an address to every resolver, some of which read 010 as 8 and 1.2 as 1.0.0.2.
    const std::string_view last = labels.back();
    const bool hex = last.size() > 1 && last[0] == '0' && (last[1] == 'x' || last[1] == 'X') &&
                     (last.size() == 2 || all(last.substr(2), is_hex));
    if ((hex || all(last, is_digit)) && !is_ipv4(host)) {
      return refuse(
          fmt::format("{} is no IPv4 address: write four numbers up to 255, as in 10.0.0.1", shown(host)));
    }
    return true;
  }

  // The port with its colon, or nothing.
  bool port(std::string_view text, ProbeUrl& url) {
    if (text.empty()) {
      if (url.scheme == ProbeScheme::tcp) return refuse("tcp has no port of its own: write tcp://HOST:PORT");
      url.port = url.scheme == ProbeScheme::https ? 443 : 80;
      return true;
    }
    if (text[0] != ':') {
      return refuse(fmt::format("{} follows the bracket: write a port as [::1]:8080", shown(text)));
    }
    text.remove_prefix(1);
    if (text.empty()) return refuse("nothing follows the colon: write a port, 1 to 65535, or no colon");
    std::uint32_t number = 0;
    for (const char c : text)
      number = is_digit(c) ? std::min(number * 10 + static_cast<std::uint32_t>(c - '0'), 65'536U) : 65'536;
    if (!all(text, is_digit) || number < 1 || number > 65'535) {
      return refuse(fmt::format("{} is no port: write a whole number from 1 to 65535", shown(text)));
    }
    url.port = static_cast<std::uint16_t>(number);
    return true;
  }

  bool path(std::string_view text, ProbeUrl& url) {
    if (url.scheme == ProbeScheme::tcp) {
      url.path.clear();
      return text.empty() || refuse("a tcp probe only connects: leave out " + shown(text));
    }
    url.path = text;
    if (!text.starts_with('/')) url.path.insert(0, 1, '/');
    return true;
  }

  std::string_view text_;
  std::string& problem_;
  std::string scheme_;
};

}  // namespace

bool is_ipv4(std::string_view text) {
  const auto numbers = split(text, '.');
  return numbers.size() == 4 && std::all_of(numbers.begin(), numbers.end(), [](std::string_view number) {
           if (number.size() > 3 || !all(number, is_digit)) return false;
           if (number.size() > 1 && number[0] == '0') return false;
           int value = 0;
           for (const char c : number) value = value * 10 + (c - '0');
           return value <= 255;
         });
}

bool is_ipv6(std::string_view text) {
  const std::size_t gap = text.find("::");
  if (gap == std::string_view::npos) return groups_of(text, true) == 8;
  // "::" stands for one group at least.
  return groups_of(text.substr(0, gap), false) + groups_of(text.substr(gap + 2), true) <= 7;
}

std::optional<ProbeUrl> read_probe_url(std::string_view text, std::string& problem) {
  problem.clear();
  ProbeUrl url;
  if (!UrlReader(text, problem).read(url)) return std::nullopt;
  return url;
}

}  // namespace halfopen::sim
