// Ten times the usual concurrency, with random delays before every participant and before the database: what is done is right all the same,
// and nothing of the system grows without end.
#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include <unistd.h>

#include "books.hpp"
#include "commands.hpp"
#include "drill/proxy/fault_proxy.hpp"
#include "failure.hpp"
#include "load.hpp"
#include "peer_target.hpp"
#include "report.hpp"
#include "watch.hpp"

namespace bench {
namespace {

namespace drill = atone::drill;

constexpr std::uint32_t usual_in_flight = 256;
constexpr std::uint32_t times_the_usual = 10;
constexpr auto delay_of_participants = std::chrono::milliseconds{10};  // give or take as much, each way
constexpr auto delay_of_database = std::chrono::milliseconds{1};       // likewise
constexpr auto sample_every = std::chrono::milliseconds{500};
constexpr auto audit_max = std::chrono::minutes{15};
constexpr auto answer_max = std::chrono::seconds{10};
constexpr double mebibyte = 1024 * 1024;
constexpr double held_slack = 8;               // MiB: what an allocator gives and takes
constexpr double held_a_saga = 32 / mebibyte;  // of each that has ended, in memory

// The third step of every tenth saga is refused: what came before it is undone.
std::string definition() {
  std::string text =
      "saga: stress\nversion: 1\ninput:\n  type: object\n  required: [order, amount]\n  properties: {order: {type: integer}, amount: "
      "{type: "
      "integer}}\nservices:\n";
  for (auto const name : services) text += "  " + std::string{name} + ": {http: \"http://127.0.0.1:1\", in_flight: 2048}\n";
  text += "steps:\n";
  for (auto const name : services) {
    auto const refuse = name == services.back() ? ", refuse: =input.order % 10 == 0" : "";
    text += "  - id: " + std::string{name} + "\n    call: " + std::string{name} + " POST /do\n    in: {order: =input.order" + refuse +
            "}\n    compensate: {call: " + std::string{name} + " POST /undo, in: {order: =input.order}}\n";
  }
  return text;
}

std::unique_ptr<drill::fault_proxy> proxy_to(std::uint16_t port, std::uint64_t seed) {
  drill::proxy_options with;
  with.target_port = port;
  with.seed = seed;
  return need(drill::fault_proxy::start(std::move(with)), "starting a proxy");
}

drill::network_fault random_delay(atone::duration about) {
  drill::network_fault made{drill::fault_kind::delay};
  made.of = about;
  made.jitter = about;
  made.where = drill::way::both;
  return made;
}

// Everything that a saga passes through: the daemon, and behind a proxy each, participants with books and the database.
class shop {
 public:
  explicit shop(stage& on) : on_(on), in_(on.make_place(store_kind::postgresql)) {
    // Forked before there is any thread.
    for (auto const name : services) {
      ports_.push_back(listener{}.port());
      participants_.push_back(child::fork_off(std::string{name}, [port = ports_.back()] { return keep_books(port); }));
    }
    std::uint64_t seed = on.options().seed;
    for (auto const port : ports_) proxies_.push_back(proxy_to(port, seed++));
    proxies_.push_back(proxy_to(on.postgresql().port(), seed));
  }

  // The daemon, started on the proxies; it ends with what is returned.
  served open(std::uint32_t connections) {
    launch_options how;
    auto const log = on_.in_folder("atoned.log");
    how.words = {on_.options().daemon_program,
                 "--store",
                 on_.postgresql().address(in_.database, proxies_.back()->port()),
                 "--listen",
                 "127.0.0.1:0",
                 "--log-level",
                 "warn"};
    for (std::size_t each = 0; each < services.size(); ++each) {
      how.words.insert(how.words.end(), {"--service", std::string{services[each]} + "=" + url_of(proxies_[each]->port())});
    }
    how.log = log;
    served made;
    made.processes.emplace_back("atoned", child::launch(how));
    url_ = "http://" + announced_address(on_.clock(), made.processes.back().process, log, "the daemon");
    publish();
    made.endpoints.emplace_back(url_, "/v1/sagas/stress?wait=60s");
    made.wanted = R"("status":"comp)";  // completed or compensated
    made.connections = connections;
    atoned_ = made.processes.back().process.pid();
    return made;
  }

  void delay() {
    for (auto const& each : proxies_) each->set(random_delay(each == proxies_.back() ? delay_of_database : delay_of_participants));
  }
  void heal() {
    for (auto const& each : proxies_) each->heal();
  }

  // part -> its process; PostgreSQL's is the parent of its backends.
  std::map<std::string, pid_t> processes() const {
    std::map<std::string, pid_t> made{{"atoned", atoned_}, {"load and proxies", ::getpid()}};
    for (std::size_t each = 0; each < services.size(); ++each) made.emplace(services[each], participants_[each].pid());
    return made;
  }
  std::string const& database() const noexcept { return in_.database; }
  std::uint64_t delayed() const {
    std::uint64_t sum = 0;
    for (auto const& each : proxies_) sum += each->figures().touched;
    return sum;
  }

  // What `atone audit` says of a dump of the journal and of the participants' books.
  std::string audit() {
    auto const dump = on_.in_folder("stress.sql");
    auto const said = on_.in_folder("audit.json");
    run({on_.postgresql().program("pg_dump"), "-n", "atone", on_.postgresql().address(in_.database)}, dump);
    std::vector<std::string> words{
        (std::filesystem::path{on_.options().daemon_program}.parent_path() / "atone").string(), "audit", "-o", "json", "--dump", dump};
    for (std::size_t each = 0; each < services.size(); ++each) {
      words.insert(words.end(), {"--service", std::string{services[each]} + "=" + url_of(ports_[each])});
    }
    run(words, said);
    return file_text(said);
  }

 private:
  static std::string url_of(std::uint16_t port) { return "http://127.0.0.1:" + std::to_string(port); }

  void run(std::vector<std::string> words, std::string const& out) {
    launch_options how;
    how.words = std::move(words);
    how.log = out;
    auto const program = how.words.front();
    auto running = child::launch(how);
    auto const status = running.ended_within(on_.clock(), audit_max);
    if (status != 0) throw failure{program + " ended with status " + std::to_string(status) + ": " + file_text(out).substr(0, 4000)};
  }

  void publish() {
    atone::http::request send;
    send.method = "POST";
    send.headers.add("Content-Type", "application/yaml");
    send.body = definition();
    auto const came = atone::http::fetch(url_ + "/v1/definitions", std::move(send), answer_max);
    if (!came.ok() || came.response.status >= 300) throw failure{"publishing the definition: " + came.detail + came.response.body};
  }

  stage& on_;
  place in_;
  std::vector<std::uint16_t> ports_;
  std::vector<child> participants_;
  std::vector<std::unique_ptr<drill::fault_proxy>> proxies_;  // of the participants, then the database's
  std::string url_;
  pid_t atoned_ = -1;
};

// All figures of the system, each with its looks.
class watch {
 public:
  watch(stage& on, shop const& of) {
    for (auto const& [part, process] : of.processes()) {
      add(part + ", CPU us a saga", figure_kind::counter, 2, 300, [process] { return as_double(cpu_of_process(process)); });
      add_memory(part, process);
      add(part + ", descriptors", figure_kind::level, 1.1, 64, [process] { return static_cast<double>(descriptors_of(process)); });
      add(part + ", threads", figure_kind::level, 1, 2, [process] { return static_cast<double>(threads_of(process)); });
    }
    auto& server = on.postgresql();
    add("postgresql, CPU us a saga", figure_kind::counter, 2, 300, [&server] { return as_double(cpu_of_family(server.pid())); });
    add_held("postgresql, own MiB", [&server] { return static_cast<double>(own_bytes_of_family(server.pid())); });
    add("postgresql, connections", figure_kind::level, 1, 4, [&server] { return static_cast<double>(server.connections()); });
    add("write-ahead log, bytes a saga", figure_kind::counter, 2, 4096, [&server] { return static_cast<double>(server.wal_position()); });
    add("database on disk, bytes a saga", figure_kind::counter, 2, 4096,
        [&server, name = of.database()] { return static_cast<double>(server.size_of(name)); });
  }

  void look_at_all(std::uint64_t ended) {
    for (auto& each : all_) each.looks.emplace_back(ended, each.read());
  }

  struct verdict {
    std::string name;
    std::optional<growth_verdict> of;  // nothing: it can't be told, which is a failure
  };
  std::vector<verdict> judge() const {
    std::vector<verdict> made;
    for (auto const& each : all_) made.push_back(verdict{each.figure.name, judge_growth(each.figure, each.looks)});
    return made;
  }

 private:
  struct one {
    watched_figure figure;
    std::function<double()> read;
    std::vector<look> looks;
  };
  static double as_double(cpu_time of) { return static_cast<double>(of.count()); }
  // The books of a participant are in its memory, and grow with the sagas.
  void add_memory(std::string const& part, pid_t process) {
    auto const bytes = [process] { return static_cast<double>(resident_bytes_of(process)); };
    if (std::find(services.begin(), services.end(), part) != services.end()) {
      add(part + ", resident bytes a saga", figure_kind::counter, 2, 4096, bytes);
    } else {
      add_held(part + ", resident MiB", bytes);
    }
  }
  void add_held(std::string name, std::function<double()> bytes) {
    all_.push_back(one{watched_figure{std::move(name), figure_kind::held, 1, held_slack, held_a_saga},
                       [bytes = std::move(bytes)] { return bytes() / mebibyte; },
                       {}});
  }
  void add(std::string name, figure_kind kind, double factor, double slack, std::function<double()> read) {
    all_.push_back(one{watched_figure{std::move(name), kind, factor, slack}, std::move(read), {}});
  }

  std::vector<one> all_;
};

struct figures_of_stress {
  std::uint64_t sagas = 0;
  double usual_rate = 0;  // without delays, at the usual concurrency
  double rate = 0;
  double p50_ms = 0;
  double p99_ms = 0;
  std::uint64_t delayed = 0;
  std::vector<watch::verdict> watched;
  std::string audit;

  figures_of_stress() = default;
};

double rate_of(load const& of, stage& on, steady::duration time) {
  auto const from = of.ended();
  auto const began = steady::now();
  on.clock().pause(time);
  return static_cast<double>(of.ended() - from) / std::chrono::duration<double>{steady::now() - began}.count();
}

figures_of_stress measure_stress(stage& on) {
  auto const& with = on.options();
  auto const usual = with.in_flight.value_or(usual_in_flight);
  figures_of_stress made;
  shop of{on};
  {
    peer_target target{on.clock(), of.open(times_the_usual * usual + 64)};
    load calm{on.clock(), target};
    calm.keep_in_flight(usual);
    on.clock().pause(with.warm_up);
    made.usual_rate = rate_of(calm, on, with.window);
    calm.drain();

    of.delay();
    load much{on.clock(), target};
    watch seen{on, of};
    much.keep_in_flight(times_the_usual * usual);
    much.begin_window();
    auto const from = steady::now();
    auto const until = from + with.overload;
    for (auto due = from; due < until; due += std::min<steady::duration>(sample_every, with.overload / looks_least)) {
      on.clock().pause_until(due);
      seen.look_at_all(much.ended());
      much.check();
    }
    seen.look_at_all(much.ended());
    made.rate = static_cast<double>(much.ended()) / std::chrono::duration<double>{steady::now() - from}.count();
    much.end_window();
    much.drain();
    made.p50_ms = milliseconds(much.latencies().quantile(0.5));
    made.p99_ms = milliseconds(much.latencies().quantile(0.99));
    made.sagas = calm.ended() + much.ended();
    made.watched = seen.judge();
    made.delayed = of.delayed();
    of.heal();
  }
  std::fprintf(stderr, "bench: audit of %llu sagas\n", static_cast<unsigned long long>(made.sagas));
  made.audit = of.audit();
  return made;
}

std::int64_t count_in(atone::json::value const& audit, std::string_view key) {
  auto const found = audit.find(key);
  return found ? found->as_int64().value_or(-1) : -1;
}

void check(figures_of_stress const& of, atone::json::value const& audit) {
  if (count_in(audit, "proven") != static_cast<std::int64_t>(of.sagas)) {
    throw failure{std::to_string(of.sagas) + " sagas ended, and the audit has proven " + std::to_string(count_in(audit, "proven")) + ": " +
                  of.audit};
  }
  std::string grows;
  std::string untold;
  for (auto const& each : of.watched) {
    if (!each.of) {
      untold += "\n  " + each.name;
    } else if (each.of->grows) {
      grows += "\n  " + each.name + ": " + figure(each.of->before) + ", later " + figure(each.of->after) + "; at most " +
               figure(each.of->allowed);
    }
  }
  if (!untold.empty()) throw failure{"can't be told, since too few looks were taken or no saga ended in one half:" + untold};
  if (!grows.empty()) throw failure{"grows without end:" + grows};
}

void write(stage& on, figures_of_stress const& of, atone::json::value const& audit) {
  atone::json::writer document;
  begin_document(document, on.options());
  document.key("sagas").number(of.sagas).key("usual_sagas_per_s").number(of.usual_rate).key("sagas_per_s").number(of.rate);
  document.key("p50_ms").number(of.p50_ms).key("p99_ms").number(of.p99_ms).key("connections_delayed").number(of.delayed);
  document.key("audit").raw(of.audit);
  document.key("proven").number(count_in(audit, "proven")).key("watched").begin_object();
  for (auto const& each : of.watched) {
    document.key(each.name);
    if (!each.of) {
      document.null();
      continue;
    }
    document.begin_object().key("before").number(each.of->before).key("after").number(each.of->after);
    document.key("allowed").number(each.of->allowed).key("grows").boolean(each.of->grows).end_object();
  }
  document.end_object();
  finish_document(document, on);
}

}  // namespace

void stress(stage& on) {
  auto const of = measure_stress(on);
  auto const audit = need(atone::json::parse(of.audit), "reading the audit's report");
  auto const usual = on.options().in_flight.value_or(usual_in_flight);
  table shown{{"figure", "value"}};
  shown.add({std::to_string(usual) + " in flight, no delays, sagas/s", figure(of.usual_rate)});
  shown.add({std::to_string(times_the_usual * usual) + " in flight, random delays, sagas/s", figure(of.rate)});
  shown.add({"p50 ms", figure(of.p50_ms)});
  shown.add({"p99 ms", figure(of.p99_ms)});
  shown.add({"connections that were delayed", figure(static_cast<double>(of.delayed))});
  for (auto const* key : {"proven", "completed", "compensated", "violated", "not_checkable", "unfinished", "orphans"}) {
    shown.add({std::string{"audit: "} + key, figure(static_cast<double>(count_in(audit, key)))});
  }
  table watched{{"watched", "earlier", "later", "at most"}};
  for (auto const& each : of.watched) {
    if (each.of) watched.add({each.name, figure(each.of->before), figure(each.of->after), figure(each.of->allowed)});
    if (!each.of) watched.add({each.name, "?", "?", "?"});
  }
  std::printf("%s\n%s\n%s\n", machine_text(on).c_str(), shown.text().c_str(), watched.text().c_str());
  write(on, of, audit);
  check(of, audit);
}

}  // namespace bench
