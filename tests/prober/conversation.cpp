#include "tests/prober/conversation.hpp"

#include <openssl/err.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace halfopen::testing {
namespace {

// Of a hello's extension: its content, if it has one of this kind.
std::optional<std::string_view> extension(SSL* ssl, unsigned kind) {
  const unsigned char* content = nullptr;
  std::size_t length = 0;
  if (SSL_client_hello_get0_ext(ssl, kind, &content, &length) != 1) return std::nullopt;
  return std::string_view(reinterpret_cast<const char*>(content), length);
}

std::size_t length_at(std::string_view bytes, std::size_t at) {
  return static_cast<unsigned char>(bytes.at(at));
}

// RFC 6066: two bytes of length, a type, two bytes of length, the name.
std::optional<std::string> server_name(SSL* ssl) {
  const auto content = extension(ssl, TLSEXT_TYPE_server_name);
  if (!content || content->size() < 5) return std::nullopt;
  return std::string(content->substr(5, length_at(*content, 3) * 256 + length_at(*content, 4)));
}

// RFC 7301: two bytes of length, then names of a byte of length each.
std::vector<std::string> offered_protocols(SSL* ssl) {
  std::vector<std::string> names;
  const auto content = extension(ssl, TLSEXT_TYPE_application_layer_protocol_negotiation);
  if (!content) return names;
  for (std::size_t at = 2; at < content->size(); at += 1 + length_at(*content, at)) {
    names.emplace_back(content->substr(at + 1, length_at(*content, at)));
  }
  return names;
}

int heard_hello(SSL* ssl, int*, void*) {
  static_cast<Listener*>(SSL_get_app_data(ssl))->hello(server_name(ssl), offered_protocols(ssl));
  return SSL_CLIENT_HELLO_SUCCESS;
}

int choose_protocol(SSL*, const unsigned char** out, unsigned char* length, const unsigned char* offered,
                    unsigned offered_length, void*) {
  static constexpr unsigned char ours[] = "\x08http/1.1";
  unsigned char* chosen = nullptr;
  if (SSL_select_next_proto(&chosen, length, ours, sizeof ours - 1, offered, offered_length) !=
      OPENSSL_NPN_NEGOTIATED) {
    return SSL_TLSEXT_ERR_ALERT_FATAL;
  }
  *out = chosen;
  return SSL_TLSEXT_ERR_OK;
}

}  // namespace

std::shared_ptr<SSL_CTX> server_context(const Identity& identity) {
  std::shared_ptr<SSL_CTX> context(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
  if (!context || SSL_CTX_use_certificate(context.get(), identity.certificate.get()) != 1 ||
      SSL_CTX_use_PrivateKey(context.get(), identity.key.get()) != 1) {
    throw std::runtime_error("OpenSSL could not make a server's context");
  }
  SSL_CTX_set_client_hello_cb(context.get(), heard_hello, nullptr);
  SSL_CTX_set_alpn_select_cb(context.get(), choose_protocol, nullptr);
  return context;
}

Conversation::Conversation(Fd socket, int stop, Clock::time_point deadline, SSL_CTX* context,
                           Listener& listener)
    : socket_(std::move(socket)), stop_(stop), deadline_(deadline), listener_(listener) {
  if (context == nullptr) return;
  ssl_.reset(SSL_new(context));
  if (!ssl_ || SSL_set_fd(ssl_.get(), socket_.get()) != 1) throw std::runtime_error("no TLS to be had");
  SSL_set_app_data(ssl_.get(), &listener_);
}

void Conversation::run(const Script& script) {
  if (ssl_ && !shake_hands()) return;
  for (const Step& next : script) {
    if (!step(next)) return;
  }
  close_as_it_should_be();
}

bool Conversation::step(const Step& step) {
  switch (step.kind) {
    case Step::Kind::read_request: return read_request();
    case Step::Kind::wait: return pause(step.pause);
    case Step::Kind::drop: return false;
    case Step::Kind::stall:
      while (receive()) continue;
      return false;
    case Step::Kind::never_read:
      if (wait_for_socket(POLLRDHUP, deadline_)) listener_.left();
      return false;
    case Step::Kind::reset: {
      const linger at_once{1, 0};
      setsockopt(socket_.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
      return false;
    }
    case Step::Kind::send: break;
  }
  if (step.pause.count() == 0) return send(step.text);
  for (std::size_t at = 0; at < step.text.size(); ++at) {
    if (at > 0 && !pause(step.pause)) return false;
    if (!send(std::string_view(step.text).substr(at, 1))) return false;
  }
  return true;
}

bool Conversation::shake_hands() {
  for (;;) {
    ERR_clear_error();
    const int result = SSL_accept(ssl_.get());
    if (result == 1) break;
    if (!wait_for_ssl(result)) return false;
  }
  listener_.secured();
  return true;
}

bool Conversation::read_request() {
  std::size_t end;
  while ((end = unread_.find("\r\n\r\n")) == std::string::npos) {
    if (!receive()) return false;
  }
  unread_.erase(0, end + 4);
  return true;
}

bool Conversation::receive() {
  std::array<char, 4096> bytes{};
  for (;;) {
    ERR_clear_error();
    const auto got = ssl_ ? SSL_read(ssl_.get(), bytes.data(), static_cast<int>(bytes.size()))
                          : ::recv(socket_.get(), bytes.data(), bytes.size(), 0);
    if (got > 0) {
      const std::string_view some(bytes.data(), static_cast<std::size_t>(got));
      unread_ += some;
      listener_.received(some);
      return true;
    }
    const bool wait = ssl_ ? wait_for_ssl(static_cast<int>(got))
                           : got < 0 && errno == EAGAIN && wait_for_socket(POLLIN, deadline_);
    if (wait) continue;
    if (!ended_) listener_.left();
    return false;
  }
}

bool Conversation::send(std::string_view bytes) {
  while (!bytes.empty()) {
    ERR_clear_error();
    const auto sent = ssl_ ? SSL_write(ssl_.get(), bytes.data(), static_cast<int>(bytes.size()))
                           : ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(sent));
      continue;
    }
    const bool wait = ssl_ ? wait_for_ssl(static_cast<int>(sent))
                           : sent < 0 && errno == EAGAIN && wait_for_socket(POLLOUT, deadline_);
    if (!wait) return false;
  }
  return true;
}

bool Conversation::wait_for_socket(short events, Clock::time_point until) {
  for (;;) {
    const auto left = std::chrono::ceil<Millis>(until - Clock::now());
    std::array<pollfd, 2> all{pollfd{stop_, POLLIN, 0}, pollfd{events == 0 ? -1 : socket_.get(), events, 0}};
    const int ready =
        ::poll(all.data(), all.size(), static_cast<int>(std::max<Millis::rep>(left.count(), 0)));
    if (ready < 0 && errno == EINTR) continue;
    if (all[0].revents != 0 || Clock::now() >= deadline_) {
      ended_ = true;
      return false;
    }
    return ready > 0;
  }
}

bool Conversation::wait_for_ssl(int result) {
  switch (SSL_get_error(ssl_.get(), result)) {
    case SSL_ERROR_WANT_READ: return wait_for_socket(POLLIN, deadline_);
    case SSL_ERROR_WANT_WRITE: return wait_for_socket(POLLOUT, deadline_);
    default: return false;
  }
}

bool Conversation::pause(Millis length) {
  wait_for_socket(0, std::min(deadline_, Clock::now() + length));
  return !ended_;
}

// Says that nothing more will come and reads until the client has gone too: closing a socket with unread
// bytes would break the connection under the answer.
void Conversation::close_as_it_should_be() {
  if (ssl_) SSL_shutdown(ssl_.get());
  ::shutdown(socket_.get(), SHUT_WR);
  deadline_ = std::min(deadline_, Clock::now() + std::chrono::seconds(2));
  while (receive()) continue;
}

}  // namespace halfopen::testing
