// One connection through the proxy: two flows, one a way, each with one buffer.
// Thread rules: belongs to the proxy's loop.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <random>
#include <set>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include "drill/proxy/fault_proxy.hpp"
#include "drill/proxy/message_splitter.hpp"

namespace atone::drill {

class link;

// What all links of a proxy share. Outlives them.
struct proxy_state {
  explicit proxy_state(proxy_options const& with) : random(with.seed) {}

  boost::asio::ip::tcp::endpoint target;
  network_fault fault;
  std::uint64_t faults = 0;  // how often it was set: what a flow has counted for an older one is void
  proxy_figures figures;
  std::size_t doubles = 0;
  std::mt19937_64 random;
  std::set<std::shared_ptr<link>> links;
  boost::asio::io_context io{1};  // ends first: what is pending in it still refers to the others
};

class link : public std::enable_shared_from_this<link> {
 public:
  link(proxy_state& in, boost::asio::ip::tcp::socket client);

  void begin();          // connects to the target
  void fault_changed();  // what waits looks again
  void close();          // both sides
  void reset();          // likewise, the client by RST
  void touch();          // the fault has done something to this connection: it is counted

 private:
  using socket = boost::asio::ip::tcp::socket;
  enum class waits_for : std::uint8_t { nothing, room_to_read, room_to_pass };

  struct flow {
    flow(boost::asio::io_context& io, socket& source, socket& sink, way which) : from(source), to(sink), where(which), pause(io) {}
    socket& from;
    socket& to;
    way where;
    boost::asio::steady_timer pause;
    std::array<char, fault_proxy::buffer_size> buffer{};
    std::size_t have = 0;
    std::size_t sent = 0;
    std::uint64_t passed = 0;   // bytes under the fault of this number
    std::uint64_t counted = 0;  // which
    waits_for waiting = waits_for::nothing;
    bool paused = false;  // has waited for what is in the buffer
    bool over = false;    // nothing more comes from its source
    bool ended = false;
  };

  void read(flow& of);
  void has_read(flow& of, std::size_t bytes);
  void pass(flow& of);
  void pass_some(flow& of);
  void wait(flow& of, duration time);
  void write(flow& of, std::size_t bytes, bool then_cut);
  void end(flow& of);
  void go_silent();
  bool loses();
  void count_loss();
  void send_again(std::string request);
  bool held() const noexcept { return in_.fault.kind == fault_kind::stall; }

  proxy_state& in_;
  socket client_;
  socket server_;
  flow there_;
  flow back_;
  message_splitter requests_;
  std::uint64_t touched_ = 0;  // by the fault of this number, last
  bool connected_ = false;
  bool silent_ = false;  // half-open: what the client sends is dropped
  bool doomed_ = false;  // its answer is to be lost
  bool closed_ = false;
};

}  // namespace atone::drill
