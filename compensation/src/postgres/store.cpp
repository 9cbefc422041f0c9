#include "postgres/store.hpp"

#include "common/address.hpp"
#include "common/factories.hpp"
#include "postgres/health.hpp"
#include "postgres/membership.hpp"
#include "postgres/migrations.hpp"
#include "postgres/reader.hpp"
#include "postgres/retention.hpp"
#include "postgres/session.hpp"
#include "postgres/writer.hpp"

namespace atone {
namespace postgres {
namespace {

class postgres_store final : public store {
 public:
  postgres_store(endpoint to, retry_limits retry) : to_(std::move(to)), retry_(retry) {}

  result<std::unique_ptr<journal>> open_journal() override { return writer::open(to_, retry_); }
  result<std::unique_ptr<journal_reader>> open_reader() override { return reader::open(to_); }
  result<std::unique_ptr<membership>> open_membership(epoch as) override { return open_membership_as(to_, as); }
  result<std::unique_ptr<retention>> open_retention(epoch as) override { return open_retention_as(to_, as); }

  result<schema_status> status() override {
    auto on = session::open(to_, session_kind::reader);
    if (!on) return on.error();
    return schema_of(**on);
  }

  result<void> migrate() override {
    auto on = session::open(to_, session_kind::writer);
    if (!on) return on.error();
    return postgres::migrate(**on);
  }

  std::vector<std::string> health() override {
    auto on = session::open(to_, session_kind::reader);
    if (!on) return {on.error().message};
    return server_warnings(**on);
  }

  std::string description() const override { return address_without_password(to_.address); }

 private:
  endpoint const to_;
  retry_limits const retry_;
};

}  // namespace

result<std::unique_ptr<store>> open_with_limits(std::string const& address, session_limits session, retry_limits retry) {
  endpoint to{address, session};
  // Asked once, so that a wrong address is told at once and by itself.
  if (auto reached = session::open(to, session_kind::reader); !reached) return reached.error();
  return std::unique_ptr<store>{std::make_unique<postgres_store>(std::move(to), retry)};
}

}  // namespace postgres

result<std::unique_ptr<store>> open_postgres_store(std::string const& address) {
  return postgres::open_with_limits(address, postgres::session_limits{}, postgres::retry_limits{});
}

}  // namespace atone
