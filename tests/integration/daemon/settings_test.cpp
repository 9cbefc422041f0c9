// Flags, environment, and the doors that stay shut.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "daemon/settings.hpp"

namespace atone::daemon {
namespace {

using testing::HasSubstr;

struct outcome {
  parsed_line line;
  std::string out;
  std::string err;
};

outcome parse(std::vector<char const*> words) {
  words.insert(words.begin(), "atoned");
  std::ostringstream out;
  std::ostringstream err;
  outcome made;
  made.line = parse_line(static_cast<int>(words.size()), words.data(), out, err);
  made.out = out.str();
  made.err = err.str();
  return made;
}

TEST(settings, defaults_are_a_file_here_and_a_door_on_loopback) {
  auto const made = parse({});
  ASSERT_TRUE(made.line.run) << made.err;
  EXPECT_EQ(made.line.run->store, "sqlite:atone.db");
  EXPECT_EQ(made.line.run->address, "127.0.0.1");
  EXPECT_EQ(made.line.run->port, 7070);
  EXPECT_TRUE(made.line.run->migrate);
}

TEST(settings, flags_say_everything) {
  auto const made = parse({"--store", "memory:", "--listen", "[::1]:0", "--node", "n1", "--token", "ops:0123456789abcdef", "--service",
                           "orders=http://127.0.0.1:7001", "--grace", "3s", "--no-migrate", "--open-max", "10"});
  ASSERT_TRUE(made.line.run) << made.err;
  auto const& run = *made.line.run;
  EXPECT_EQ(run.store, "memory:");
  EXPECT_EQ(run.address, "::1");
  EXPECT_EQ(run.port, 0);
  EXPECT_EQ(run.node, "n1");
  ASSERT_EQ(run.tokens.size(), 1u);
  EXPECT_EQ(run.tokens[0].name, "ops");
  EXPECT_EQ(run.addresses.at("orders"), "http://127.0.0.1:7001");
  EXPECT_EQ(run.grace, std::chrono::seconds{3});
  EXPECT_FALSE(run.migrate);
  EXPECT_EQ(run.open_max, 10u);
}

TEST(settings, finished_sagas_are_kept_for_ever_unless_it_is_said_for_how_long) {
  auto const silent = parse({});
  ASSERT_TRUE(silent.line.run) << silent.err;
  EXPECT_EQ(silent.line.run->retention, duration{0});
  EXPECT_EQ(silent.line.run->key_retention, std::chrono::hours{24 * 30});
  auto const said = parse({"--retention", "7d", "--key-retention", "60d"});
  ASSERT_TRUE(said.line.run) << said.err;
  EXPECT_EQ(said.line.run->retention, std::chrono::hours{24 * 7});
  EXPECT_EQ(said.line.run->key_retention, std::chrono::hours{24 * 60});
  auto const never = parse({"--retention", "0s"});
  ASSERT_TRUE(never.line.run) << never.err;
  EXPECT_EQ(never.line.run->retention, duration{0});
}

TEST(settings, features_have_a_folder_and_devices_on_wish) {
  EXPECT_EQ(parse({}).line.run->features, "");
  auto const made = parse({"--features", "sets", "--feature-gpus", "0,2"});
  ASSERT_TRUE(made.line.run) << made.err;
  EXPECT_EQ(made.line.run->features, "sets");
  EXPECT_EQ(made.line.run->feature_gpus, (std::vector<int>{0, 2}));
  for (auto const* wrong : {"one", "0,", "0,0", "-1", "1 2"}) {
    auto const refused = parse({"--features", "sets", "--feature-gpus", wrong});
    EXPECT_EQ(refused.line.exit_code, 2) << wrong;
    EXPECT_THAT(refused.err, HasSubstr("expected devices as 0,1"));
  }
  EXPECT_THAT(parse({"--feature-gpus", "0"}).err, HasSubstr("needs --features"));
}

TEST(settings, a_key_is_known_as_long_as_its_saga_at_least) {
  auto const longer = parse({"--retention", "90d"});
  ASSERT_TRUE(longer.line.run) << longer.err;
  EXPECT_EQ(longer.line.run->key_retention, std::chrono::hours{24 * 90});
  auto const shorter = parse({"--retention", "90d", "--key-retention", "60d"});
  EXPECT_FALSE(shorter.line.run);
  EXPECT_EQ(shorter.line.exit_code, 2);
  EXPECT_THAT(shorter.err, HasSubstr("key-retention: found 60d, expected no less than --retention, which is 90d"));
}

TEST(settings, a_retention_that_can_not_be_meant_is_refused) {
  for (auto const* const wrong : {"10ms", "999ms", "a while", "-1d"}) {
    auto const made = parse({"--retention", wrong});
    EXPECT_FALSE(made.line.run) << wrong;
    EXPECT_EQ(made.line.exit_code, 2);
    EXPECT_THAT(made.err, HasSubstr("retention")) << wrong;
  }
}

TEST(settings, environment_stands_behind_flags) {
  ::setenv("ATONE_STORE", "sqlite:from-environment.db", 1);
  ::setenv("ATONE_LISTEN", "127.0.0.1:1234", 1);
  auto const made = parse({"--listen", "127.0.0.1:4321"});
  ::unsetenv("ATONE_STORE");
  ::unsetenv("ATONE_LISTEN");
  ASSERT_TRUE(made.line.run) << made.err;
  EXPECT_EQ(made.line.run->store, "sqlite:from-environment.db");
  EXPECT_EQ(made.line.run->port, 4321);
}

TEST(settings, help_and_version_end_well) {
  EXPECT_EQ(parse({"--help"}).line.exit_code, 0);
  EXPECT_THAT(parse({"--help"}).out, HasSubstr("ATONE_STORE"));
  EXPECT_FALSE(parse({"--version"}).line.run);
}

struct bad_line {
  std::vector<char const*> words;
  char const* why;
};

class settings_refuse : public testing::TestWithParam<bad_line> {};

TEST_P(settings_refuse, with_exit_code_2_and_a_reason) {
  auto const made = parse(GetParam().words);
  EXPECT_FALSE(made.line.run);
  EXPECT_EQ(made.line.exit_code, 2);
  EXPECT_THAT(made.err, HasSubstr(GetParam().why));
}

INSTANTIATE_TEST_SUITE_P(
    lines, settings_refuse,
    testing::Values(bad_line{{"--nonsense"}, "nonsense"}, bad_line{{"--listen", "7070"}, "ADDRESS:PORT"},
                    bad_line{{"--listen", "::1:7070"}, "ADDRESS:PORT"}, bad_line{{"--listen", "127.0.0.1:99999"}, "ADDRESS:PORT"},
                    bad_line{{"--token", "short"}, "at least 16"}, bad_line{{"--token", ":0123456789abcdef"}, "name is empty"},
                    bad_line{{"--token-file", "/no/such/file"}, "/no/such/file"}, bad_line{{"--service", "orders"}, "NAME=URL"},
                    bad_line{{"--service", "orders=ftp://x"}, "neither http"}, bad_line{{"--grace", "long"}, "grace"},
                    bad_line{{"--tls-key", "k.pem"}, "--tls-certificate"}, bad_line{{"--log-level", "loud"}, "log-level"}));

TEST(doors, beyond_loopback_need_token_and_tls) {
  auto const bare = parse({"--listen", "0.0.0.0:7070"});
  EXPECT_EQ(bare.line.exit_code, 2);
  EXPECT_THAT(bare.err, HasSubstr("a token (--token-file) and TLS"));
  EXPECT_THAT(parse({"--listen", "0.0.0.0:7070", "--token", "0123456789abcdef"}).err, HasSubstr("it needs TLS"));
  EXPECT_THAT(parse({"--listen", "[::]:7070", "--tls-certificate", "c.pem", "--tls-key", "k.pem"}).err, HasSubstr("it needs a token"));
  EXPECT_TRUE(
      parse({"--listen", "0.0.0.0:7070", "--token", "0123456789abcdef", "--tls-certificate", "c.pem", "--tls-key", "k.pem"}).line.run);
  EXPECT_TRUE(parse({"--listen", "0.0.0.0:7070", "--insecure"}).line.run);
  EXPECT_TRUE(parse({"--listen", "127.9.9.9:7070"}).line.run);
  EXPECT_TRUE(parse({"--listen", "localhost:7070"}).line.run);
}

TEST(token_file, has_one_a_line) {
  auto const path = std::filesystem::temp_directory_path() / ("atone-tokens-" + std::to_string(::getpid()));
  {
    std::ofstream file{path};
    file << "# who may ask\n\nops:0123456789abcdef\r\nci:fedcba9876543210\n";
  }
  auto const made = read_token_file(path.string());
  ASSERT_TRUE(made) << made.error().message;
  ASSERT_EQ(made->size(), 2u);
  EXPECT_EQ((*made)[0].secret, "0123456789abcdef");
  {
    std::ofstream file{path};
    file << "ops:0123456789abcdef\nci:short\n";
  }
  auto const broken = read_token_file(path.string());
  ASSERT_FALSE(broken);
  EXPECT_THAT(broken.error().message, HasSubstr(":2:"));
  EXPECT_THAT(broken.error().message, testing::Not(HasSubstr("0123456789abcdef"))) << "secrets are not repeated";
  std::filesystem::remove(path);
}

TEST(own_url, says_how_to_reach_it) {
  settings made;
  EXPECT_EQ(own_url(made, 7), "http://127.0.0.1:7");
  made.address = "::1";
  made.tls.emplace();
  EXPECT_EQ(own_url(made, 7), "https://[::1]:7");
}

TEST(node_address, is_told_to_other_nodes_or_left_out) {
  settings made;
  EXPECT_EQ(node_address(made, "http://127.0.0.1:7"), "http://127.0.0.1:7");
  for (auto const* every : {"0.0.0.0", "::"}) {
    made.address = every;
    EXPECT_EQ(node_address(made, own_url(made, 7)), "") << "every address is nobody's";
  }
  made.advertise = "https://node-1.example:7070";
  EXPECT_EQ(node_address(made, own_url(made, 7)), "https://node-1.example:7070");
}

TEST(node_address, that_is_no_url_is_refused) {
  auto const line = parse({"--advertise", "node-1:7070"});
  EXPECT_EQ(line.line.exit_code, 2);
  EXPECT_THAT(line.err, HasSubstr("advertise: "));
}

TEST(driver_patience, is_longer_than_the_lease_as_long_as_callers_wait) {
  settings made;
  EXPECT_EQ(driver_patience(made), std::chrono::seconds{7});
  made.lease = std::chrono::hours{1};
  EXPECT_EQ(driver_patience(made), std::chrono::seconds{15});
}

TEST(node_tls, shows_its_own_certificate_and_trusts_what_it_was_told) {
  settings made;
  EXPECT_EQ(node_tls(made).ca_file, "") << "the system's";
  made.tls.emplace();
  made.tls->certificate_file = "chain.pem";
  made.tls->key_file = "key.pem";
  made.tls->ca_file = "clients.pem";
  EXPECT_EQ(node_tls(made).certificate_file, "chain.pem");
  EXPECT_EQ(node_tls(made).ca_file, "clients.pem");
  made.node_ca = "nodes.pem";
  EXPECT_EQ(node_tls(made).ca_file, "nodes.pem");
}

}  // namespace
}  // namespace atone::daemon
