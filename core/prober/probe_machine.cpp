#include "core/prober/probe_machine.hpp"

#include <openssl/err.h>

#include <exception>
#include <utility>

namespace halfopen {
namespace {

ProbeEnd end_of_connect(const std::error_code& error) {
  if (is_local_trouble(error)) return ProbeEnd::not_made;
  if (is_errno(error, std::errc::connection_refused)) return ProbeEnd::refused;
  if (was_made(error)) return ProbeEnd::reset;
  return is_errno(error, std::errc::timed_out) ? ProbeEnd::connect_timeout : ProbeEnd::unreachable;
}

}  // namespace

std::string sentence_of(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "an exception of unknown kind";
  }
}

template <class Act>
auto Probe::step(Act act) {
  return [self = shared_from_this(), act = std::move(act)](auto&&... args) {
    if (!self->done_) return;
    try {
      act(*self, std::forward<decltype(args)>(args)...);
    } catch (...) {
      self->finish(ProbeEnd::not_made, sentence_of(std::current_exception()));
    }
  };
}

Probe::Probe(const ProbeRoom& room, const ProbeTarget& target, TlsContext tls, Done done)
    : context_(*room.context),
      shared_context_(room.context),
      look_ups_(*room.look_ups),
      target_(target),
      tls_(std::move(tls)),
      done_(std::move(done)),
      deadline_(*room.context),
      socket_(*room.context) {
  if (target.kind == ProbeKind::tcp) return;
  const std::string plain = target.address.substr(0, target.address.find('%'));  // a zone is this side's
  request_ = "GET " + target.path + " HTTP/1.1\r\nHost: " + EndpointConfig{plain, target.port}.name() +
             "\r\nConnection: close\r\n\r\n";
}

void Probe::start() {
  began_ = phase_began_ = Clock::now();
  deadline_.expires_after(std::chrono::milliseconds(target_.timeout_ms));
  deadline_.async_wait(step([](Probe& probe, const std::error_code&) { probe.out_of_time(); }));
  std::string wrong = wrong_with(target_);
  std::error_code not_literal;
  asio::ip::make_address(target_.address, not_literal);
  if (!wrong.empty()) {
    asio::post(context_,
               step([wrong = std::move(wrong)](Probe& probe) { probe.finish(ProbeEnd::not_made, wrong); }));
  } else if (!not_literal) {
    asio::post(context_, step([](Probe& probe) { probe.connect({probe.target_.address}); }));
  } else {
    look_up();
  }
}

void Probe::look_up() {
  // The answer may come when this probe, and even its loop, are long gone.
  auto answered = [self = weak_from_this(), context = shared_context_.lock()](
                      const Addresses& found, const std::exception_ptr& thrown) {
    asio::post(*context, [self, found, thrown] {
      const auto probe = self.lock();
      if (probe) probe->step([&](Probe& here) { here.looked_up(found, thrown); })();
    });
  };
  look_ups_.start(target_.address, weak_from_this(), std::move(answered));
}

void Probe::looked_up(const Addresses& addresses, const std::exception_ptr& thrown) {
  if (thrown) return finish(ProbeEnd::not_made, "the look-up threw: " + sentence_of(thrown));
  report_.look_up = phase_ended(Phase::connect);
  if (addresses.found.empty()) return finish(ProbeEnd::name_lookup, addresses.problem);
  connect(interleaved(addresses.found));
}

void Probe::connect(const std::vector<std::string>& addresses) {
  phase_ = Phase::connect;
  std::vector<Tcp::endpoint> endpoints;
  for (const std::string& text : addresses) {
    std::error_code bad;
    const asio::ip::address address = asio::ip::make_address(text, bad);
    if (!bad) endpoints.emplace_back(address, target_.port);
  }
  if (endpoints.empty()) return finish(ProbeEnd::name_lookup, "the look-up answered with no IP address");
  auto decided = step([](Probe& probe, const std::error_code& error, Tcp::socket socket) {
    probe.connected(error, std::move(socket));
  });
  race_ = std::make_shared<Race>(context_, std::move(endpoints),
                                 std::chrono::milliseconds(target_.happy_eyeballs_ms), std::move(decided));
  race_->start();
}

void Probe::connected(const std::error_code& error, Tcp::socket socket) {
  const bool connected_once = was_made(error) && target_.kind == ProbeKind::tcp;
  if (error && !connected_once) return finish(end_of_connect(error), error.message());
  report_.connect = phase_ended(Phase::response);
  std::error_code gone;
  const Tcp::endpoint peer = socket.remote_endpoint(gone);
  if (!gone) report_.peer = EndpointConfig{peer.address().to_string(), peer.port()}.name();
  socket_ = std::move(socket);
  if (target_.kind == ProbeKind::tcp) return finish(ProbeEnd::ok);
  if (target_.speaks_tls()) return shake_hands();
  ask(socket_);
}

void Probe::shake_hands() {
  phase_ = Phase::tls;
  ERR_clear_error();
  secure_ = std::make_unique<asio::ssl::stream<Tcp::socket>>(std::move(socket_), *tls_);
  if (!expect_peer(secure_->native_handle(), target_.address)) {
    return finish(ProbeEnd::not_made,
                  "no certificate can be expected of the name \"" + target_.address + '"');
  }
  secure_->async_handshake(
      asio::ssl::stream_base::client, step([](Probe& probe, const std::error_code& error) {
        if (error) return probe.finish(ProbeEnd::tls, tls_problem(probe.secure_->native_handle(), error));
        probe.report_.tls = probe.phase_ended(Phase::response);
        probe.ask(*probe.secure_);
      }));
}

template <class Stream>
void Probe::ask(Stream& stream) {
  asio::async_write(stream, asio::buffer(request_),
                    step([&stream](Probe& probe, const std::error_code& error, std::size_t) {
                      // An answer may have come before the question was taken: some answer and hang up.
                      if (error && !was_made(error)) return probe.broke(error);
                      probe.asking_ = error;
                      probe.read(stream);
                    }));
}

template <class Stream>
void Probe::read(Stream& stream) {
  stream.async_read_some(asio::buffer(buffer_),
                         step([&stream](Probe& probe, const std::error_code& error, std::size_t bytes) {
                           // A reset that asking has met reads as an orderly end.
                           if (error) return probe.broke(probe.asking_ ? probe.asking_ : error);
                           probe.arrived(bytes);
                           if (probe.done_) probe.read(stream);
                         }));
}

void Probe::arrived(std::size_t bytes) {
  switch (line_.feed({buffer_.data(), bytes})) {
    case StatusLineReader::Progress::more: return;
    case StatusLineReader::Progress::malformed:
      return finish(ProbeEnd::malformed, "the answer does not begin with a status line of HTTP/1.x");
    case StatusLineReader::Progress::too_long:
      return finish(ProbeEnd::too_long, "no line end within 4,096 bytes");
    case StatusLineReader::Progress::status: break;
  }
  report_.status = line_.status();
  report_.response = phase_ended(Phase::response);
  finish(is_probe_success(report_.status) ? ProbeEnd::ok : ProbeEnd::status);
}

void Probe::broke(const std::error_code& error) {
  if (error == asio::error::eof || error == asio::ssl::error::stream_truncated) {
    const std::size_t bytes = line_.bytes_read();
    return finish(ProbeEnd::truncated,
                  bytes == 0 ? "closed without an answer"
                             : "closed after " + std::to_string(bytes) + " bytes of a status line");
  }
  // TLS 1.3 tells a client only after the handshake that its certificate was missed.
  if (error.category() == asio::error::get_ssl_category()) return finish(ProbeEnd::tls, error.message());
  finish(ProbeEnd::reset, error.message());
}

void Probe::out_of_time() {
  switch (phase_) {
    case Phase::look_up: return finish(ProbeEnd::name_lookup, "no answer to the look-up in time");
    case Phase::connect: return finish(ProbeEnd::connect_timeout, "no connection in time");
    case Phase::tls: return finish(ProbeEnd::timeout, "connected, but the TLS handshake did not end in time");
    case Phase::response: break;
  }
  const std::size_t bytes = line_.bytes_read();
  finish(ProbeEnd::timeout, bytes == 0 ? "connected, but no answer in time"
                                       : "only " + std::to_string(bytes) + " bytes of a status line in time");
}

ProbeTime Probe::phase_ended(Phase next) {
  const Clock::time_point now = Clock::now();
  phase_ = next;
  return now - std::exchange(phase_began_, now);
}

void Probe::finish(ProbeEnd end, std::string detail) {
  if (!done_) return;
  report_.end = end;
  report_.detail = std::move(detail);
  report_.total = Clock::now() - began_;
  const Done done = std::exchange(done_, nullptr);
  close();
  done(std::move(report_));
}

void Probe::cancel() {
  done_ = nullptr;
  close();
}

void Probe::stop() { finish(ProbeEnd::cancelled, "stopped by the caller"); }

void Probe::close() {
  deadline_.cancel();
  if (race_) race_->cancel();
  std::error_code ignored;
  socket_.close(ignored);
  if (secure_) secure_->lowest_layer().close(ignored);
}

}  // namespace halfopen
