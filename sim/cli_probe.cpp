// `halfopen probe`: one probe of a live endpoint or a series, with the verdict and the time of each phase.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/active_probe.hpp"
#include "core/param_table.hpp"
#include "core/prober/probe.hpp"
#include "sim/cli.hpp"
#include "sim/cli_output.hpp"
#include "sim/cli_probe_json.hpp"
#include "sim/cli_probe_text.hpp"
#include "sim/cli_reader.hpp"
#include "sim/cli_stop.hpp"
#include "sim/cli_words.hpp"
#include "sim/probe_url.hpp"

namespace halfopen::sim {

namespace {

constexpr std::uint64_t MAX_COUNT = 1'000'000;  // of which each success keeps eight bytes for the median

struct ProbeOptions {
  std::string url;
  ProbeTarget target;
  std::uint64_t count = 1;
  std::uint64_t interval_ms = 1000;  // from one verdict to the next start, as in the loop of active_health
  bool jsonl = false;
  std::string output;  // empty or "-": standard output
};

// Where a series goes line by line: out at once, or into a file that appears when all is over.
class ProbeLog {
 public:
  explicit ProbeLog(const ProbeOptions& options)
      : options_(options), table_(options.target, options.url, options.count) {
    if (!options_.jsonl) put(table_.head());
  }

  void tell(std::uint64_t n, const ProbeReport& report) {
    if (options_.jsonl) {
      std::string line;
      ObjectWriter object(line);
      object.uint("probe", n);
      object.text("url", options_.url);
      append_probe(object, report);
      object.close();
      put(line + '\n');
    } else {
      put(table_.line(n, report));
    }
    if (!names_stdout(options_.output) && status_line_width() > 30) {
      show_status_line(fmt::format("{} of {} probes", n, options_.count));
    }
  }

  bool broken() const { return status_ != EXIT_HELD || stdout_reader_left(); }

  // The exit status of writing.
  int finish() {
    if (!options_.jsonl && options_.count > 1) put(table_.summary());
    clear_status_line();
    if (!names_stdout(options_.output)) status_ = std::max(status_, write_file(options_.output, text_));
    return status_;
  }

 private:
  void put(const std::string& text) {
    if (names_stdout(options_.output)) {
      if (status_ == EXIT_HELD) status_ = write_stdout(text);  // what can't be written is told once
    } else {
      text_ += text;
    }
  }

  const ProbeOptions& options_;
  ProbeTable table_;
  std::string text_;
  int status_ = EXIT_HELD;
};

void rest(std::uint64_t ms, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, stop, std::chrono::milliseconds(ms), [] { return false; });
}

int status_of(const ProbeReport& report) {
  if (report.ok()) return EXIT_HELD;
  return report.is_verdict() ? EXIT_NOT_HELD : EXIT_BAD_INPUT;
}

// The highest status of the probes.
int probe_all(const ProbeOptions& options, const std::stop_token& stop, ProbeLog& account) {
  int status = EXIT_HELD;
  std::uint32_t not_made_in_a_row = 0;
  for (std::uint64_t n = 1; n <= options.count && !account.broken(); ++n) {
    if (n > 1) rest(options.interval_ms, stop);
    if (stop.stop_requested()) break;
    const ProbeReport report = probe_once(options.target, resolve_by_system, stop);
    account.tell(n, report);
    status = std::max(status, status_of(report));
    not_made_in_a_row = report.end == ProbeEnd::not_made ? not_made_in_a_row + 1 : 0;
    if (not_made_in_a_row == ActiveProbe::GIVE_UP_AFTER && n < options.count) {
      say(fmt::format("halfopen: given up, because {} probes in a row could not be made", not_made_in_a_row));
      break;
    }
  }
  return status;
}

int command_probe(const ProbeOptions& options) {
  const std::string& ca = options.target.trusted_ca_file;
  if (const auto problem = output_problem(
          "-o", options.output, ca.empty() ? std::vector<std::string>{} : std::vector<std::string>{ca})) {
    say("halfopen: " + *problem);
    return EXIT_BAD_INPUT;
  }
  // Not read here: a pipe gives its bytes once.
  if (!ca.empty() && why_not_readable(ca)) {
    say(fmt::format("halfopen: can't read {}: --ca needs a file of certificates in PEM", ca));
    return EXIT_BAD_INPUT;
  }
  ProbeLog account(options);
  const StopOnInterrupt stop;
  const ReaderPatience patience([&stop] { return stop.token().stop_requested(); });
  const int status = probe_all(options, stop.token(), account);
  const int written = account.finish();
  return stop.signal() == 0 ? std::max(status, written) : 128 + stop.signal();
}

// ---- words ------------------------------------------------------------------------------------------------

struct ProbeWords {
  ProbeOptions options;
  std::optional<std::string> timeout, count, interval, happy_eyeballs, ca;
  std::string format = "text";
};

// Within the bounds that the same setting has in a file.
template <class Block>
void take(const std::optional<std::string>& word, const std::string& option, std::string_view setting,
          std::uint64_t& out) {
  if (!word) return;
  for (const Setting<Block>& row : settings<Block>()) {
    if (row.name == setting) out = whole_of(option, *word, row.min, row.max);
  }
}

void understand(ProbeWords& words) {
  ProbeOptions& options = words.options;
  std::string problem;
  const std::optional<ProbeUrl> url = read_probe_url(options.url, problem);
  if (!url) throw CLI::ValidationError("URL", problem);
  ProbeTarget& target = options.target;
  target.address = url->host;
  target.port = url->port;
  target.kind = url->scheme == ProbeScheme::tcp ? ProbeKind::tcp : ProbeKind::http;
  target.tls = url->scheme == ProbeScheme::https;
  if (target.kind == ProbeKind::http) target.path = url->path;
  if (words.ca) {
    if (!target.tls) {
      throw CLI::ValidationError("--ca",
                                 "only https has certificates to check: leave it out, or write https://");
    }
    if (words.ca->empty()) throw CLI::ValidationError("--ca", "the name of the file is empty");
    target.trusted_ca_file = *words.ca;
  }
  take<ActiveParams>(words.timeout, "--timeout-ms", "timeout_ms", target.timeout_ms);
  take<ActiveParams>(words.interval, "--interval-ms", "interval_ms", options.interval_ms);
  take<TimeoutParams>(words.happy_eyeballs, "--happy-eyeballs-ms", "happy_eyeballs_ms",
                      target.happy_eyeballs_ms);
  if (words.count) options.count = whole_of("--count", *words.count, 1, MAX_COUNT);
  options.jsonl = words.format == "jsonl";
}

constexpr std::string_view EXAMPLES =
    "  halfopen probe http://127.0.0.1:8080/healthz\n"
    "  halfopen probe https://api.example/ready --ca private-ca.pem --timeout-ms 500\n"
    "  halfopen probe tcp://[::1]:6379 --count 10 --interval-ms 200\n"
    "  halfopen probe http://api.example --count 60 --format jsonl -o minute.jsonl\n\n"
    "Verdicts, of which ok alone is a success:\n"
    "  ok               a 2xx status line came; of tcp: connected\n"
    "  status           another status; redirects are not followed\n"
    "  name_lookup      the name has no address, or none was found in time\n"
    "  refused          nobody listens on that port\n"
    "  unreachable      no route, or another error of connecting\n"
    "  connect_timeout  no connection in time\n"
    "  tls              the handshake failed: certificate, name or protocol\n"
    "  reset            the connection broke before a whole status line\n"
    "  truncated        it was closed before a whole status line\n"
    "  malformed        what came is no status line of HTTP/1\n"
    "  too_long         4,096 bytes came without a line end\n"
    "  timeout          connected, but no whole status line (or no TLS) in time\n"
    "and two that say nothing about the endpoint:\n"
    "  not_made         this side could not: no descriptor left, a bad --ca file\n"
    "  cancelled        Ctrl-C came first\n\n"
    "Exit status: 0 every probe was ok, 1 one was not, 2 usage, or a probe could not\n"
    "be made (the third in a row ends the series), 130 interrupted (143 terminated)\n"
    "after the summary of what was seen; a third Ctrl-C leaves at once.";

void add_words(CLI::App& probe, ProbeWords& words) {
  probe
      .add_option("URL", words.options.url,
                  broken("http://HOST[:PORT][/PATH][?QUERY], https://... or tcp://HOST:PORT; an IPv6 "
                         "address in brackets"))
      ->required();
  probe
      .add_option("--timeout-ms", words.timeout,
                  broken("One bound over look-up, connect, TLS and the status line, 1 to 10^12. Default: "
                         "2000"))
      ->type_name("MS");
  probe
      .add_option("--ca", words.ca,
                  broken("Of https: certificates (PEM) that are trusted instead of the system's roots. "
                         "Default: none"))
      ->type_name("FILE");
  probe
      .add_option("--count", words.count,
                  broken("How many probes, 1 to 1000000, one after the other; several end with a summary. "
                         "Default: 1"))
      ->type_name("N");
  probe
      .add_option("--interval-ms", words.interval,
                  broken("From one verdict to the start of the next probe, as active_health has it, 1 to "
                         "10^12. Default: 1000"))
      ->type_name("MS");
  probe
      .add_option("--happy-eyeballs-ms", words.happy_eyeballs,
                  broken("Head start of each address of a name over the next (RFC 8305), 0 to 10^12; 0: "
                         "one after the other. Default: 250"))
      ->type_name("MS");
  probe
      .add_option("--format", words.format,
                  broken("text (for people, 80 columns) or jsonl (an object a probe, always with the same "
                         "keys). Default: text"))
      ->check(one_of({"text", "jsonl"}))
      ->type_name("FORMAT");
  add_output_option(probe, words.options.output);
}

}  // namespace

void add_probe(CLI::App& app, Chosen& chosen) {
  const auto words = std::make_shared<ProbeWords>();
  CLI::App* probe =
      add_command(app, "probe",
                  "Probe a live endpoint as active_health does, over a connection of its own, and tell the "
                  "verdict and how long each phase took: GET and a 2xx status line, or only a connection.",
                  std::string(EXAMPLES));
  add_words(*probe, *words);
  probe->callback([words, &chosen] {
    understand(*words);
    chosen = [words] { return command_probe(words->options); };
  });
}

}  // namespace halfopen::sim
