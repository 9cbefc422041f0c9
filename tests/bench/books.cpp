#include "books.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <string>
#include <tuple>

#include <boost/asio/io_context.hpp>

#include <atone/http.hpp>
#include <atone/json.hpp>
#include <atone/participant_protocol.hpp>

#include "waiter.hpp"

namespace bench {
namespace {

constexpr std::string_view act = "do";
constexpr std::string_view undo = "compensate";
constexpr std::size_t page_max = 10'000;

class books {
 public:
  atone::http::response answer(atone::http::request const& what) {
    auto const target = atone::http::parse_target(what.target);
    if (!target) return {400, "{}"};
    if (target->path == "/atone/effects") return list(*target);
    auto const saga = std::string{what.headers.get(atone::headers::saga)};
    auto const step = std::string{what.headers.get(atone::headers::step)};
    auto const op = what.headers.get(atone::headers::op);
    if (op == act) return do_it(saga, step, what.body.find(R"("refuse":true)") != std::string::npos);
    return op == undo ? undo_it(saga, step) : atone::http::response{400, "{}"};
  }

 private:
  using key = std::tuple<std::string, std::string, std::string>;  // saga, step, operation
  struct entry {
    std::uint64_t applied = 0;
    int status = 200;

    entry() = default;
    entry(std::uint64_t times, int answered) : applied(times), status(answered) {}
  };

  atone::http::response do_it(std::string const& saga, std::string const& step, bool refused) {
    bool const undone = entries_.contains(key{saga, step, undo});
    entry made{refused || undone ? 0U : 1U, refused || undone ? 409 : 200};
    auto const& kept = entries_.emplace(key{saga, step, act}, made).first->second;
    return {kept.status, "{}"};
  }
  atone::http::response undo_it(std::string const& saga, std::string const& step) {
    auto const done = entries_.find(key{saga, step, act});
    entries_.emplace(key{saga, step, undo}, entry{done == entries_.end() ? 0 : done->second.applied, 200});
    return {200, "{}"};
  }

  // The cursor is the last key: the saga's 26 characters, the operation, the step.
  atone::http::response list(atone::http::split_target const& asked) const {
    std::size_t limit = page_max;
    auto from = entries_.begin();
    for (auto const& [name, value] : asked.query) {
      if (name == "limit") std::from_chars(value.data(), value.data() + value.size(), limit);
      auto const slash = value.find('/', atone::saga_id::text_size + 1);
      if (name != "after" || slash == std::string::npos) continue;
      auto const saga = value.substr(0, atone::saga_id::text_size);
      auto const op = value.substr(saga.size() + 1, slash - saga.size() - 1);
      from = entries_.upper_bound(key{saga, value.substr(slash + 1), op});
    }
    return page(from, std::min(limit, page_max));
  }
  atone::http::response page(std::map<key, entry>::const_iterator from, std::size_t limit) const {
    atone::json::writer to;
    to.begin_object().key("effects").begin_array();
    key last;
    for (std::size_t n = 0; n < limit && from != entries_.end(); ++n, ++from) {
      last = from->first;
      auto const& [saga, step, op] = last;
      to.begin_object().key("saga").string(saga).key("step").string(step).key("op").string(op);
      to.key("applied").number(from->second.applied).end_object();
    }
    to.end_array().key("next");
    auto const& [saga, step, op] = last;
    from == entries_.end() ? to.null() : to.string(saga + '/' + op + '/' + step);
    to.end_object();
    return {200, to.take()};
  }

  std::map<key, entry> entries_;
};

}  // namespace

int keep_books(std::uint16_t port) {
  boost::asio::io_context io{1};
  books all;
  atone::http::server_options where;
  where.port = port;
  atone::http::server doors{io, where, [&all](atone::http::request what, atone::http::responder reply) { reply.send(all.answer(what)); }};
  if (!doors.start()) return 1;
  io.run();
  return 0;
}

}  // namespace bench
