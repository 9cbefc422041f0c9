#include "drill/proxy/fault_proxy.hpp"

#include <future>
#include <thread>
#include <utility>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>

#include "drill/proxy/link.hpp"

namespace atone::drill {
namespace {

using boost::asio::ip::tcp;
using boost::system::error_code;

constexpr std::chrono::milliseconds listen_again{50};
constexpr std::chrono::milliseconds accept_again{20};

result<tcp::endpoint> endpoint_of(std::string const& address, std::uint16_t port) {
  error_code failed;
  auto const read = boost::asio::ip::make_address(address, failed);
  if (failed) return error{errc::invalid_argument, "found '" + address + "', expected an IP address"};
  return tcp::endpoint{read, port};
}

}  // namespace

struct fault_proxy::impl {
  explicit impl(proxy_options const& with) : state(with), acceptor(state.io), pause(state.io), work(state.io.get_executor()) {}

  error_code listen();
  void accept();
  void take(tcp::socket client);
  void listen_later();
  void change(network_fault fault);
  void close_all(void (link::*how)());

  // Runs the function in the loop and brings back what it returns.
  template <class Function>
  auto in_loop(Function function) {
    std::packaged_task<decltype(function())()> task{std::move(function)};
    auto outcome = task.get_future();
    boost::asio::post(state.io, std::move(task));
    return outcome.get();
  }

  proxy_state state;
  tcp::acceptor acceptor;
  boost::asio::steady_timer pause;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work;  // a refused port leaves the loop nothing to do
  tcp::endpoint at;
  std::thread thread;
};

error_code fault_proxy::impl::listen() {
  error_code failed;
  acceptor.open(at.protocol(), failed);
  if (!failed) acceptor.set_option(tcp::acceptor::reuse_address{true}, failed);
  if (!failed) acceptor.bind(at, failed);
  if (!failed) acceptor.listen(boost::asio::socket_base::max_listen_connections, failed);
  if (!failed) at = acceptor.local_endpoint(failed);
  error_code ignored;
  if (failed) acceptor.close(ignored);
  return failed;
}

void fault_proxy::impl::accept() {
  acceptor.async_accept([this](error_code failed, tcp::socket client) {
    if (!acceptor.is_open()) return;
    if (!failed) {
      take(std::move(client));
      return accept();
    }
    // Out of descriptors, most likely: some time later there may be one.
    pause.expires_after(accept_again);
    pause.async_wait([this](error_code cancelled) {
      if (!cancelled && acceptor.is_open()) accept();
    });
  });
}

void fault_proxy::impl::take(tcp::socket client) {
  error_code ignored;
  client.set_option(tcp::no_delay{true}, ignored);
  ++state.figures.accepted;
  ++state.figures.open;
  auto const made = std::make_shared<link>(state, std::move(client));
  state.links.insert(made);
  bool const too_many = state.links.size() > connections_max;
  if (state.fault.kind == fault_kind::reset) made->touch();
  if (too_many || state.fault.kind == fault_kind::reset) return made->reset();
  made->begin();
}

void fault_proxy::impl::close_all(void (link::*how)()) {
  auto const all = state.links;
  for (auto const& each : all) (each.get()->*how)();
}

// Somebody may have taken the port meanwhile: it is asked for until it is free.
void fault_proxy::impl::listen_later() {
  if (acceptor.is_open() || state.fault.kind == fault_kind::refuse) return;
  if (!listen()) return accept();
  pause.expires_after(listen_again);
  pause.async_wait([this](error_code cancelled) {
    if (!cancelled) listen_later();
  });
}

void fault_proxy::impl::change(network_fault fault) {
  state.fault = fault;
  ++state.faults;
  error_code ignored;
  if (fault.kind == fault_kind::refuse || fault.kind == fault_kind::reset) close_all(&link::touch);
  if (fault.kind == fault_kind::refuse) {
    acceptor.close(ignored);
    return close_all(&link::close);
  }
  if (fault.kind == fault_kind::reset) close_all(&link::reset);
  close_all(&link::fault_changed);
  listen_later();
}

result<std::unique_ptr<fault_proxy>> fault_proxy::start(proxy_options with) {
  auto const at = endpoint_of(with.address, with.port);
  if (!at) return at.error();
  auto const target = endpoint_of(with.target_address, with.target_port);
  if (!target) return target.error();
  auto made = std::make_unique<impl>(with);
  made->at = *at;
  made->state.target = *target;
  if (auto const failed = made->listen()) {
    return error{errc::unavailable, with.address + ":" + std::to_string(with.port) + " can't be listened on: " + failed.message()};
  }
  made->accept();
  auto& working = *made;
  made->thread = std::thread{[&working] { working.state.io.run(); }};
  return std::unique_ptr<fault_proxy>{new fault_proxy{std::move(made)}};
}

fault_proxy::fault_proxy(std::unique_ptr<impl> of) : impl_(std::move(of)) {}

fault_proxy::~fault_proxy() {
  impl_->in_loop([this] {
    error_code ignored;
    impl_->acceptor.close(ignored);
    impl_->close_all(&link::close);
    impl_->state.io.stop();
  });
  impl_->thread.join();
}

std::uint16_t fault_proxy::port() const noexcept {
  return impl_->at.port();
}

void fault_proxy::set(network_fault fault) {
  impl_->in_loop([this, fault] { impl_->change(fault); });
}

proxy_figures fault_proxy::figures() const {
  return impl_->in_loop([this] { return impl_->state.figures; });
}

}  // namespace atone::drill
