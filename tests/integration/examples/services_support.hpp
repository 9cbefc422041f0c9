// A service under test: its own folder for the database, a free port, requests as the coordinator sends them.
// Thread rules: for one test each; requests may come from several threads.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <stdlib.h>

#include <gtest/gtest.h>

#include <atone/http.hpp>
#include <atone/json.hpp>
#include <atone/participant_protocol.hpp>

#include "kit/service.hpp"

namespace examples_test {

// A folder that is gone at the end.
class temporary_folder {
 public:
  temporary_folder() {
    std::string name = (std::filesystem::temp_directory_path() / "atone-examples-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  temporary_folder(temporary_folder const&) = delete;
  temporary_folder& operator=(temporary_folder const&) = delete;
  ~temporary_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string file(std::string const& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

// One operation of one saga.
struct operation_key {
  std::string saga;
  std::string step;
  std::string op = "do";
  std::string attempt = "1";

  operation_key(std::string saga_text, std::string step_text, std::string op_text = "do", std::string attempt_text = "1")
      : saga(std::move(saga_text)), step(std::move(step_text)), op(std::move(op_text)), attempt(std::move(attempt_text)) {}
};

// A saga id that differs by number.
inline std::string saga(std::uint8_t number) {
  atone::saga_id::bytes bytes{};
  bytes[0] = 1;
  bytes[15] = number;
  return atone::saga_id{bytes}.text();
}

class service_under_test {
 public:
  service_under_test(kit::service_definition of, std::vector<std::string> flags = {}) {
    auto const extras = of.extras;
    auto options = kit::parse_options(flags, extras, "sqlite:" + folder_.file(of.name + ".db"));
    EXPECT_TRUE(options.has_value()) << (options ? "" : options.error().message);
    auto started = kit::service::start(std::move(of), std::move(*options));
    EXPECT_TRUE(started.has_value()) << (started ? "" : started.error().message);
    service_ = std::move(*started);
  }

  std::string url() const { return "http://127.0.0.1:" + std::to_string(service_->port()); }
  kit::service& running() { return *service_; }
  kit::service_figures figures() const { return service_->figures(); }

  atone::http::exchange send(std::string method, std::string const& path, std::string body, operation_key const& key,
                             atone::duration timeout = std::chrono::seconds{20}) const {
    atone::http::request what;
    what.method = std::move(method);
    what.body = std::move(body);
    what.headers.add(atone::headers::saga, key.saga);
    what.headers.add(atone::headers::step, key.step);
    what.headers.add(atone::headers::op, key.op);
    what.headers.add(atone::headers::attempt, key.attempt);
    return atone::http::fetch(url() + path, std::move(what), timeout);
  }
  atone::http::exchange get(std::string const& path) const {
    return atone::http::fetch(url() + path, atone::http::request{}, std::chrono::seconds{20});
  }
  // The body of a 200.
  atone::json::value json(std::string const& path) const {
    auto const came = get(path);
    EXPECT_TRUE(came.ok()) << came.detail;
    EXPECT_EQ(came.response.status, 200) << came.response.body;
    auto parsed = atone::json::parse(came.response.body);
    EXPECT_TRUE(parsed.has_value());
    return parsed ? *parsed : atone::json::value{};
  }
  // How often this operation stands in the service's own tables, and how often it is listed at all.
  std::int64_t applied(operation_key const& key) const {
    for (auto const& row : json("/atone/effects").find("effects")->elements()) {
      if (row.find("saga")->as_string() == key.saga && row.find("step")->as_string() == key.step && row.find("op")->as_string() == key.op) {
        return *row.find("applied")->as_int64();
      }
    }
    return -1;
  }

 private:
  temporary_folder folder_;
  std::unique_ptr<kit::service> service_;
};

inline std::string order_body(int order, int user = 7, int amount = 990, std::string const& day = "1997-01-01") {
  return "{\"order_id\":" + std::to_string(order) + ",\"user\":" + std::to_string(user) + ",\"amount\":" + std::to_string(amount) +
         ",\"quantity\":1,\"placed_at\":\"" + day + "T00:00:00Z\"}";
}

}  // namespace examples_test
