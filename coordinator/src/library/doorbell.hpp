// Whether somebody listens at an address: a connection that is made and dropped. Costs no call and no attempt. It can't tell everything: a
// name that takes long to look up, or an endpoint that swallows what is sent, is `silent`, and only a call with its own patience knows.
//
// Thread rules: belongs to the loop. Destroying it, or ringing again, takes back the question that is under way.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include <boost/asio/io_context.hpp>

#include <atone/http.hpp>
#include <atone/time.hpp>

namespace atone::library {

class doorbell {
 public:
  static constexpr duration patience = std::chrono::seconds{1};
  enum class answer : std::uint8_t { there, refused, silent };

  explicit doorbell(boost::asio::io_context& loop) : loop_(loop) {}
  ~doorbell() { take_back(); }
  doorbell(doorbell const&) = delete;
  doorbell& operator=(doorbell const&) = delete;

  // `told` is called once, from the loop: there, refused by every endpoint, or silent for `patience`.
  void ring(http::origin const& at, std::function<void(answer)> told);
  void take_back();

 private:
  struct question;
  boost::asio::io_context& loop_;
  std::shared_ptr<question> asked_;
};

}  // namespace atone::library
