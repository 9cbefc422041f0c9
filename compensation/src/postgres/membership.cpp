#include "postgres/membership.hpp"

#include <thread>
#include <utility>

#include "postgres/decoding.hpp"
#include "postgres/migrations.hpp"

namespace atone::postgres {
namespace {

constexpr std::chrono::milliseconds end_backend_wait{200};
constexpr int fence_tries_max = 3;

// "{1,2,3}"
template <class Id>
std::vector<Id> numbers_of(std::string_view text) {
  std::vector<Id> read;
  std::uint64_t number = 0;
  bool inside = false;
  for (char const character : text) {
    if (character >= '0' && character <= '9') {
      number = number * 10 + static_cast<std::uint64_t>(character - '0');
      inside = true;
    } else if (std::exchange(inside, false)) {
      read.emplace_back(static_cast<typename Id::representation>(std::exchange(number, 0)));
    }
  }
  return read;
}

class postgres_membership final : public membership {
 public:
  postgres_membership(endpoint to, epoch as) : to_(std::move(to)), epoch_(as) {}

  result<void> begin() {
    auto const found = ask("select id from atone.writer where epoch = $1", {text_of(epoch_.value())});
    if (!found) return found.error();
    if (found->empty()) return error{errc::fenced, "no writer is at epoch " + std::to_string(epoch_.value()) + " any more"};
    self_ = writer_number{(*found)[0][0].as<std::uint16_t>()};
    return {};
  }

  result<roster> renew(std::string const& address, duration lease) override {
    auto const milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(lease).count();
    auto const rows = ask("select id, node, address, lease_ms, epoch, progress, alive, shards, epochs, " + microseconds_of("at") +
                              ", definitions from atone.renew($1, $2, $3, $4)",
                          {text_of(self_.value()), text_of(epoch_.value()), address, std::to_string(milliseconds)});
    if (!rows) return as_unavailable(rows.error());
    try {
      return decode(*rows);
    } catch (std::exception const& failure) {
      return error{errc::corrupt, std::string{"the members of the store can't be read: "} + failure.what()};
    }
  }

  // Its backend is ended after the fence, since what it has not committed is in everybody's way; before it only where it holds the row,
  // and then only while the row says what was seen. A failure to end it (no right to) leaves it to its own timeouts.
  result<bool> fence(member const& as_seen) override {
    std::vector<text_parameter> const seen{text_of(as_seen.number.value()), text_of(as_seen.epoch.value()), text_of(as_seen.progress)};
    for (int tries = 1;; ++tries) {
      auto const fenced = ask("select fenced, old_pid, old_start from atone.fence_writer($1, $2, $3)", seen);
      if (fenced) {
        bool const done = (*fenced)[0][0].as<bool>();
        if (done) static_cast<void>(ask("select atone.end_backend($1, $2, $3)", {(*fenced)[0][1].c_str(), (*fenced)[0][2].c_str(), "0"}));
        return done;
      }
      if (fenced.error().code != errc::serialization || tries == fence_tries_max) return as_unavailable(fenced.error());
      auto with_wait = seen;
      with_wait.push_back(text_of(end_backend_wait.count()));
      static_cast<void>(
          ask("select atone.end_backend(backend_pid, backend_start, $4) from atone.writer "
              "where id = $1 and epoch = $2 and beat + batch_number = $3 and alive",
              with_wait));
    }
  }

  result<std::vector<shard>> claim(std::size_t most) override {
    auto const rows = ask("select * from atone.claim($1, $2, $3)", {text_of(self_.value()), text_of(epoch_.value()), text_of(most)});
    if (!rows) return as_unavailable(rows.error());
    std::vector<shard> claimed;
    for (auto const& row : *rows) claimed.emplace_back(row[0].as<std::uint16_t>());
    return claimed;
  }

  void await_news(duration most) override {
    auto const milliseconds = std::chrono::ceil<std::chrono::milliseconds>(most);
    if (session_ && !session_->lost()) {
      session_->await_notification(milliseconds);
    } else {
      std::this_thread::sleep_for(milliseconds);
    }
  }

  result<void> leave() override {
    auto const left = ask("select atone.leave($1, $2)", {text_of(self_.value()), text_of(epoch_.value())});
    if (!left) return as_unavailable(left.error());
    return {};
  }

  result<std::string> token_key() override {
    auto const found = ask("select token_key from atone.layout", {});
    if (!found) return as_unavailable(found.error());
    return std::string{(*found)[0][0].c_str()};
  }

 private:
  template <class Number>
  static std::string text_of(Number value) {
    return std::to_string(value);
  }

  // Everything here may be asked again: only `fenced` is the end.
  static error as_unavailable(error failure) {
    if (failure.code != errc::fenced && failure.code != errc::corrupt) failure.code = errc::unavailable;
    return failure;
  }

  result<pqxx::result> ask(std::string const& statement, std::vector<text_parameter> const& parameters) {
    if (!session_ || session_->lost()) {
      session_.reset();
      auto const connecting = std::chrono::steady_clock::now();
      auto opened = session::open(to_, session_kind::writer);
      if (!opened) return opened.error();
      if (auto fine = check_schema(**opened); !fine) return fine.error();
      if (auto heard = (*opened)->run("listen atone"); !heard) return heard.error();
      session_ = std::move(*opened);
      auto const server = session_->run("select pg_postmaster_start_time(), inet_server_addr(), inet_server_port()");
      if (!server) return server.error();
      auto const& row = (*server)[0];
      std::string const now_at = std::string{row[0].c_str()} + ' ' + row[1].c_str() + ' ' + row[2].c_str();
      // Another server answers now. Who still asks the old one, which may say nothing at all, would wait for long.
      if (!server_.empty() && server_ != now_at) to_.guard->cut_older(connecting);
      server_ = now_at;
    }
    return session_->query(statement, parameters);
  }

  result<roster> decode(pqxx::result const& rows) const {
    roster seen;
    seen.self = self_;
    for (auto const& row : rows) {
      auto held = numbers_of<shard>(row[7].c_str());
      if (row[0].is_null()) {
        seen.free.insert(seen.free.end(), held.begin(), held.end());
        continue;
      }
      member one;
      one.number = writer_number{row[0].as<std::uint16_t>()};
      one.node = node_id{row[1].c_str()};
      one.address = row[2].c_str();
      one.lease = std::chrono::milliseconds{row[3].as<std::int64_t>()};
      one.epoch = epoch{row[4].as<std::uint64_t>()};
      one.progress = row[5].as<std::uint64_t>();
      one.alive = row[6].as<bool>();
      one.held = std::move(held);
      one.epochs = numbers_of<epoch>(row[8].c_str());
      if (!one.alive) {  // claimable, as if nobody held them
        seen.free.insert(seen.free.end(), one.held.begin(), one.held.end());
        one.held.clear();
        one.epochs.clear();
      }
      if (one.number == self_) {
        seen.database_time = decode_time(row[9]);
        seen.definitions = row[10].as<std::uint64_t>();
      }
      seen.members.push_back(std::move(one));
    }
    return seen;
  }

  endpoint const to_;
  epoch const epoch_;
  writer_number self_;
  std::unique_ptr<session> session_;
  std::string server_;  // which one, by its start and address
};

}  // namespace

result<std::unique_ptr<membership>> open_membership_as(endpoint const& to, epoch as) {
  endpoint own = to;
  own.limits = membership_limits(to.limits);
  auto made = std::make_unique<postgres_membership>(std::move(own), as);
  if (auto begun = made->begin(); !begun) return begun.error();
  return std::unique_ptr<membership>{std::move(made)};
}

}  // namespace atone::postgres
