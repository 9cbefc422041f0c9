// The configuration file: what it may say, what is refused and how, and that flags go before it.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/config_file.hpp"
#include "daemon/settings.hpp"

namespace atone::daemon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

std::string refusal_of(std::string_view yaml) {
  auto const read = read_config(yaml, "atoned.yaml");
  return read ? std::string{} : read.error().message;
}

TEST(config_file, keys_become_flags) {
  auto const read = read_config(R"(store: sqlite:x.db
open_max: 5
no_migrate: true
retention: 30d
key_retention: 90d
tls: {certificate: c.pem, key: k.pem}
services:
  orders: "http://127.0.0.1:7001"
)",
                                "atoned.yaml");
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_THAT(*read, ElementsAre(Pair("store", "sqlite:x.db"), Pair("open-max", "5"), Pair("no-migrate", "true"), Pair("retention", "30d"),
                                 Pair("key-retention", "90d"), Pair("tls-certificate", "c.pem"), Pair("tls-key", "k.pem"),
                                 Pair("service", "orders=http://127.0.0.1:7001")));
  EXPECT_TRUE(read_config("{}", "x").has_value());
}

TEST(config_file, mistakes_name_file_and_key) {
  EXPECT_THAT(refusal_of("stoer: x\n"), AllOf(HasSubstr("atoned.yaml"), HasSubstr("stoer"), HasSubstr("store")));
  EXPECT_THAT(refusal_of("listen: [1]\n"), AllOf(HasSubstr("listen"), HasSubstr("array")));
  EXPECT_THAT(refusal_of("tls: {cert: x}\n"), HasSubstr("tls.cert"));
  EXPECT_THAT(refusal_of("tls: yes-please\n"), HasSubstr("expected a map"));
  EXPECT_THAT(refusal_of("store: a\nstore: b\n"), HasSubstr("2:1"));
  EXPECT_THAT(refusal_of("- a\n"), HasSubstr("map of settings"));
  EXPECT_FALSE(read_config_file("/nowhere/atoned.yaml").has_value());
}

TEST(config_file, flags_go_before_it) {
  auto pattern = (std::filesystem::temp_directory_path() / "atone-config-XXXXXX").string();
  auto const folder = std::filesystem::path{::mkdtemp(pattern.data())};
  auto const path = (folder / "atoned.yaml").string();
  std::ofstream{path} << "store: \"memory:\"\nlisten: 127.0.0.1:7071\nservices: {a: \"http://127.0.0.1:1\"}\n";
  std::ostringstream out;
  std::ostringstream err;
  char const* const words[] = {"atoned", "--config", path.c_str(), "--listen", "127.0.0.1:0"};
  auto const line = parse_line(5, words, out, err);
  std::filesystem::remove_all(folder);
  ASSERT_TRUE(line.run.has_value()) << err.str();
  EXPECT_EQ(line.run->store, "memory:");
  EXPECT_EQ(line.run->port, 0);
  EXPECT_EQ(line.run->addresses.at("a"), "http://127.0.0.1:1");
}

}  // namespace
}  // namespace atone::daemon
