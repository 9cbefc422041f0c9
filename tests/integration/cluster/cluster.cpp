#include "cluster.hpp"

#include <cstdlib>
#include <fstream>
#include <iostream>

#include <atone/json.hpp>

namespace atone::test {

bool long_form() {
  auto const* const given = std::getenv("ATONE_DRILL");
  return given != nullptr && std::string_view{given} == "long";
}

std::string field(http::exchange const& of, std::string_view key) {
  auto const parsed = json::parse(of.response.body);
  auto const found = parsed && parsed->type() == json::kind::object ? parsed->find(key) : std::nullopt;
  return found && found->type() == json::kind::string ? found->as_string() : "";
}

std::string definition_of(std::string const& saga, std::string const& participant, std::string const& extra) {
  std::string text = "saga: " + saga + "\nversion: 1\n" + extra +
                     "input: {type: object, required: [n], properties: {n: {type: integer}}}\ndeadline: 10m\nservices: {shop: {http: \"" +
                     participant +
                     "\"}}\n"
                     "defaults:\n  retry: {delay: 10ms, cap: 200ms}\n  compensate: {delay: 10ms, cap: 200ms}\n"
                     "steps:\n";
  for (std::string const step : {"s1", "s2", "s3", "s4", "s5"}) {
    text += "  - id: " + step + "\n";
    if (saga == "booked" && step == "s2") {
      text +=
          "    sql: insert into public.effect(saga, change) values (:saga, 1)\n    in: {saga: =saga.id}\n"
          "    compensate: {sql: \"insert into public.effect(saga, change) values (:saga, -1)\", in: {saga: =saga.id}}\n";
      continue;
    }
    text += "    call: shop POST /" + step + "\n    in: {n: =input.n}\n    compensate: {call: shop POST /undo/" + step +
            ", in: {n: =input.n}}\n";
  }
  return text;
}

void cluster_test::SetUp() {
  ATONE_NEED_POSTGRES();
  if (server_ == nullptr) server_ = &postgres_server::shared();
  database_ = server_->make_database();
  store_ = server_->address(database_);
  auto pattern = (std::filesystem::temp_directory_path() / "atone-cluster-XXXXXX").string();
  folder_ = ::mkdtemp(pattern.data());
  look_at(*server_);
}

void cluster_test::TearDown() {
  if (HasFailure()) {
    for (auto const& [name, process] : nodes_) {
      std::ifstream file{log_of(name)};
      for (std::string line; std::getline(file, line);) {
        if (line.find(R"("saga ended")") == std::string::npos) std::cerr << name << ": " << line << '\n';
      }
    }
  }
  nodes_.clear();
  std::filesystem::remove_all(folder_);
}

void cluster_test::look_at(postgres_server& other) {
  observer_ = std::make_unique<observer>(other.address(database_));
}

atoned_process& cluster_test::start(std::string const& node, std::vector<std::string> const& environment, std::string const& store) {
  auto& place = nodes_[node];
  place = std::make_unique<atoned_process>(std::vector<std::string>{"--store", store.empty() ? store_ : store, "--node", node},
                                           log_of(node), environment);
  if (place->url().empty()) throw std::runtime_error{"node " + node + " did not start: " + place->log()};
  return *place;
}

void cluster_test::start_all(std::set<std::string> const& nodes) {
  for (auto const& one : nodes) start(one);
  look().ask("create table if not exists public.effect (saga text, change integer)");
  publish(definition_of("order", participant.url()));
  publish(definition_of("booked", participant.url()));
  publish(definition_of("placed", participant.url(), "shard_key: =input.n\n"));
  ASSERT_TRUE(balances(patience));
}

void cluster_test::begin_all(std::set<std::string> const& nodes) {
  start_all(nodes);
  if (!HasFatalFailure()) begin_load();
}

void cluster_test::await_driving(std::string const& node) {
  auto const drives_one = [&] {
    auto const id = field(ask(node, "POST", "/v1/sagas/order", R"({"n": 1})"), "id");
    bool by_it = false;
    auto const asked = [&](std::vector<arrival> const& came) {
      auto const first = std::find_if(came.begin(), came.end(), [&](arrival const& one) { return one.saga == id; });
      by_it = first != came.end() && first->node == node;
      return first != came.end();
    };
    return participant.comes_true(asked, patience) && by_it;
  };
  ASSERT_TRUE(comes_true(drives_one, patience));
}

std::size_t cluster_test::sent_by(std::string const& node, moment after) const {
  auto const came = participant.arrivals();
  return static_cast<std::size_t>(
      std::count_if(came.begin(), came.end(), [&](arrival const& one) { return one.node == node && one.at > after; }));
}

span cluster_test::longest_pause(std::string const& node, std::string const& but) const {
  std::map<std::string, moment> last_by_it;
  span pause{0};
  for (auto const& one : participant.arrivals()) {
    if (one.saga == but) continue;
    if (one.node == node) {
      last_by_it[one.saga] = one.at;
    } else if (auto const known = last_by_it.find(one.saga); known != last_by_it.end()) {
      pause = std::max(pause, std::chrono::duration_cast<span>(one.at - known->second));
      last_by_it.erase(known);
    }
  }
  return pause;
}

void cluster_test::kill(std::string const& node) {
  at(node).signal(SIGKILL);
  ASSERT_EQ(at(node).wait(), -SIGKILL);
}

std::set<std::string> cluster_test::names() const {
  std::set<std::string> found;
  for (auto const& [name, process] : nodes_) {
    if (process->running()) found.insert(name);
  }
  return found;
}

std::vector<std::string> cluster_test::urls() const {
  std::vector<std::string> found;
  for (auto const& [name, process] : nodes_) {
    if (process->running()) found.push_back(process->url());
  }
  return found;
}

void cluster_test::publish(std::string const& definition) {
  http::request what;
  what.method = "POST";
  what.body = definition;
  what.headers.add("Content-Type", "application/yaml");
  auto const got = http::fetch(nodes_.begin()->second->url() + "/v1/definitions", what, patience);
  ASSERT_EQ(got.response.status, 201) << got.detail << got.response.body;
}

bool cluster_test::balances(span at_most) {
  return comes_true([this] { return look().balanced(names()); }, at_most);
}

void cluster_test::begin_load() {
  starts.doors(urls());
  starts.begin();
  std::set<std::string> wanted;
  for (auto const& [name, row] : look().nodes()) {
    if (row.alive) wanted.insert(name);
  }
  constexpr std::size_t each = 30;
  bool const all_send = participant.comes_true(
      [&](std::vector<arrival> const& came) {
        std::map<std::string, std::size_t> sent;
        for (auto const& one : came) ++sent[one.node];
        return std::all_of(wanted.begin(), wanted.end(), [&](std::string const& one) { return sent[one] >= each; });
      },
      patience);
  ASSERT_TRUE(all_send) << "a node drives nothing";
}

cluster_test::moving cluster_test::moves(std::vector<std::string> const& sagas, std::string const& of, moment from) {
  moving found;
  found.sagas = sagas.size();
  std::set<std::string> waiting{sagas.begin(), sagas.end()};
  auto const note = [&] {
    for (auto const& one : participant.arrivals()) {
      if (one.at < from || one.node == of || waiting.erase(one.saga) == 0) continue;
      auto const after = std::chrono::duration_cast<span>(one.at - from);
      if (!found.first || after < *found.first) found.first = after;
      if (!found.last || after > *found.last) found.last = after;
    }
    if (waiting.empty()) return true;
    for (auto const& one : look().sagas()) {  // those that had nothing more to ask for
      if (one.status == "completed" || one.status == "compensated") waiting.erase(one.id);
    }
    return waiting.empty();
  };
  EXPECT_TRUE(comes_true(note, patience)) << waiting.size() << " of " << sagas.size() << " sagas do not go on, " << *waiting.begin()
                                          << " among them";
  return found;
}

void cluster_test::note_ends() {
  std::vector<std::string> ids;
  for (auto const& one : look().sagas()) {
    if (!one.status.starts_with("open")) ids.push_back(one.id);
  }
  participant.ended(ids);
}

void cluster_test::all_end_well() {
  EXPECT_TRUE(starts.end(patience)) << "starts are not acknowledged";
  EXPECT_TRUE(comes_true([this] { return look().open_sagas() == 0; }, patience)) << look().open_sagas() << " sagas do not end";
  auto const acknowledged = starts.acknowledged();
  std::map<std::string, saga_result> by_key;
  auto booked_effects = look().booked_effects();
  note_ends();
  for (auto const& one : look().sagas()) {
    if (!one.key.starts_with("start-")) continue;
    EXPECT_TRUE(by_key.emplace(one.key, one).second) << "two sagas for key " << one.key;
  }
  EXPECT_EQ(by_key.size(), acknowledged.size());
  for (auto const& [number, id] : acknowledged) {
    auto const found = by_key.find("start-" + std::to_string(number));
    if (found == by_key.end()) {
      ADD_FAILURE() << "start " << number << ", acknowledged as " << id << ", is lost";
      continue;
    }
    EXPECT_EQ(found->second.id, id) << "start " << number;
    bool const refused = number % 5 == 0;
    EXPECT_EQ(found->second.status, refused ? "compensated" : "completed") << id;
    bool const booked = found->second.definition == "booked";
    for (std::string const step : {"s1", "s2", "s3", "s4", "s5"}) {
      if (booked && step == "s2") continue;
      EXPECT_EQ(participant.net(id, step), refused ? 0 : 1) << id << '/' << step;
    }
    EXPECT_EQ(booked_effects[id], !booked ? "" : refused ? "1,-1" : "1") << id;
  }
  EXPECT_THAT(starts.faults(), testing::IsEmpty());
  EXPECT_THAT(participant.faults(), testing::IsEmpty());
}

void cluster_test::measured(std::string const& what, span time) {
  std::cout << "[ measured ] " << what << ": " << time.count() << " ms\n";
}

http::exchange cluster_test::ask(std::string const& node, std::string method, std::string target, std::string body, std::string const& key,
                                 duration timeout) {
  http::request what;
  what.method = std::move(method);
  what.body = std::move(body);
  if (!what.body.empty()) what.headers.add("Content-Type", "application/json");
  if (!key.empty()) what.headers.add("Idempotency-Key", key);
  return http::fetch(at(node).url() + target, what, timeout);
}

}  // namespace atone::test
