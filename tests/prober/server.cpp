#include "tests/prober/server.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <list>
#include <mutex>
#include <system_error>
#include <thread>

#include "tests/prober/conversation.hpp"
#include "tests/prober/sockets.hpp"

namespace halfopen::testing {
namespace {

constexpr std::size_t MOST_AT_ONCE = 256;  // conversations; who comes then waits in the backlog
constexpr std::chrono::seconds PATIENCE{10};

Fd new_eventfd() {
  Fd made(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!made) throw std::system_error(errno, std::generic_category(), "eventfd");
  return made;
}

void raise(const Fd& flag) {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(flag.get(), &one, sizeof one);
}

void lower(const Fd& flag) {
  std::uint64_t count = 0;
  [[maybe_unused]] const auto taken = ::read(flag.get(), &count, sizeof count);
}

const char* reason(unsigned status) {
  switch (status) {
    case 200: return "OK";
    case 204: return "No Content";
    case 503: return "Service Unavailable";
    default: return "Something";
  }
}

}  // namespace

Script answer(unsigned status) {
  const std::string body = status == 204 || status < 200 ? "" : "well\n";
  return answer_with("HTTP/1.1 " + std::to_string(status) + " " + reason(status) + "\r\nContent-Length: " +
                     std::to_string(body.size()) + "\r\nConnection: close\r\n\r\n" + body);
}

class Server::Impl {
 public:
  Impl(std::vector<Script> scripts, Options options)
      : options_(std::move(options)), scripts_(std::move(scripts)), port_(options_.address, options_.port) {
    if (options_.identity) context_ = server_context(*options_.identity);
    open_listener();
    thread_ = std::thread([this] { serve(); });
  }

  ~Impl() {
    raise(stop_);
    thread_.join();
    for (Talk& talk : talks_) talk.thread.join();
  }

  std::uint16_t port() const { return port_.port(); }

  void from_now_on(Script script) {
    const std::lock_guard lock(mutex_);
    scripts_.resize(visits_.size() + 1);
    scripts_.back() = std::move(script);
  }

  void listen(bool wanted) {
    std::unique_lock lock(mutex_);
    if (wanted && !listener_) open_listener();
    wanted_ = wanted;
    raise(wake_);
    changed_.wait(lock, [&] { return wanted_ == static_cast<bool>(listener_); });
  }

  std::vector<Visit> visits() const {
    const std::lock_guard lock(mutex_);
    return visits_;
  }

  template <class So>
  bool wait_until(So&& so) const {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, PATIENCE, [&] { return so(*this); });
  }

  // With the mutex held, as wait_until calls its condition.
  const std::vector<Visit>& visits_so_far() const { return visits_; }
  bool idle() const { return running_ == 0; }

 private:
  struct Talk {
    std::thread thread;
    std::atomic<bool> done{false};
  };

  struct Record final : Listener {
    Record(Impl& owner, std::size_t number) : impl(owner), index(number) {}
    template <class Change>
    void note(Change&& change) {
      const std::lock_guard lock(impl.mutex_);
      change(impl.visits_[index]);
      impl.changed_.notify_all();
    }
    void hello(std::optional<std::string> name, std::vector<std::string> protocols) override {
      note([&](Visit& visit) { visit.asked_for = std::move(name), visit.protocols = std::move(protocols); });
    }
    void secured() override {
      note([](Visit& visit) { visit.secured = true; });
    }
    void received(std::string_view bytes) override {
      note([bytes](Visit& visit) { visit.received += bytes; });
    }
    void left() override {
      note([](Visit& visit) {
        if (!visit.left) visit.left = Clock::now();
      });
    }
    Impl& impl;
    std::size_t index;
  };

  void open_listener() {
    Fd opened = bound_socket(port_.address(), port_.port());
    if (::listen(opened.get(), 512) != 0) throw std::system_error(errno, std::generic_category(), "listen");
    listener_ = std::move(opened);
  }

  void serve() {
    // Writing to a client that has left is a test's daily bread.
    sigset_t pipe;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
    for (;;) {
      reap();
      const bool room = obey();
      std::array<pollfd, 3> all{pollfd{stop_.get(), POLLIN, 0}, pollfd{wake_.get(), POLLIN, 0},
                                pollfd{room ? listener_.get() : -1, POLLIN, 0}};
      ::poll(all.data(), all.size(), -1);
      if (all[0].revents != 0) return;
      if (all[1].revents != 0) lower(wake_);
      if (all[2].revents != 0) accept_one();
    }
  }

  // Listens or not, as wanted; answers whether there is somebody to accept.
  bool obey() {
    const std::lock_guard lock(mutex_);
    if (!wanted_) listener_.close();
    changed_.notify_all();
    return listener_ && running_ < MOST_AT_ONCE;
  }

  void accept_one() {
    Fd socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket) {
      // It left before it was met; or no descriptor is free, and asking again at once would not help.
      std::this_thread::sleep_for(Millis(2));
      return;
    }
    const std::lock_guard lock(mutex_);
    const std::size_t index = visits_.size();
    visits_.emplace_back().at = Clock::now();
    ++running_;
    Script script = scripts_[std::min(index, scripts_.size() - 1)];
    Talk& talk = talks_.emplace_back();
    talk.thread =
        std::thread([this, index, &talk, script = std::move(script), socket = std::move(socket)]() mutable {
          Record record(*this, index);
          Conversation(std::move(socket), stop_.get(), Clock::now() + options_.limit, context_.get(), record)
              .run(script);
          talk.done = true;
          raise(wake_);
        });
    changed_.notify_all();
  }

  void reap() {
    talks_.remove_if([this](Talk& talk) {
      if (!talk.done) return false;
      talk.thread.join();
      const std::lock_guard lock(mutex_);
      --running_;
      changed_.notify_all();
      return true;
    });
  }

  const Options options_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  // Guarded by the mutex; the listener is opened and closed under it.
  std::vector<Script> scripts_;
  std::vector<Visit> visits_;
  std::size_t running_ = 0;
  bool wanted_ = true;
  Port port_;
  Fd listener_;
  Fd stop_ = new_eventfd(), wake_ = new_eventfd();
  std::shared_ptr<SSL_CTX> context_;
  std::list<Talk> talks_;  // of the serving thread
  std::thread thread_;
};

Server::Server(std::vector<Script> scripts, Options options)
    : impl_(std::make_unique<Impl>(std::move(scripts), std::move(options))) {}
Server::~Server() = default;

std::uint16_t Server::port() const { return impl_->port(); }
void Server::from_now_on(Script script) { impl_->from_now_on(std::move(script)); }
void Server::stop_listening() { impl_->listen(false); }
void Server::listen_again() { impl_->listen(true); }
std::vector<Visit> Server::visits() const { return impl_->visits(); }
std::size_t Server::count() const { return visits().size(); }

bool Server::wait_until(const std::function<bool(const std::vector<Visit>&)>& so) const {
  return impl_->wait_until([&so](const Impl& impl) { return so(impl.visits_so_far()); });
}

bool Server::wait_for_visits(std::size_t n) const {
  return impl_->wait_until([n](const Impl& impl) { return impl.visits_so_far().size() >= n; });
}

bool Server::wait_until_idle() const {
  return impl_->wait_until([](const Impl& impl) { return impl.idle(); });
}

}  // namespace halfopen::testing
