#include "cli/audit_journal.hpp"
#include "cli/daemon_client.hpp"
#include "cli/wire.hpp"

namespace atone::cli {
namespace {

constexpr std::uint32_t page_size = 1000;
constexpr std::size_t pages_max = 100'000;  // of one listing: whoever answers more goes round in circles

// Nothing where the daemon says that there is no such thing.
result<std::optional<json::value>> or_nothing(result<json::value> const& answer) {
  if (answer) return std::optional{*answer};
  if (answer.error().code == errc::not_found) return std::optional<json::value>{};
  return answer.error();
}

class daemon_journal final : public audit_journal {
 public:
  explicit daemon_journal(surroundings const& with) : daemon_(with) {}

  result<std::optional<saga_id>> newest() override {
    target from{"/v1/sagas"};
    from.query("limit", "1");
    auto const answer = daemon_.get(from);
    if (!answer) return answer.error();
    std::optional<saga_id> found;
    for (auto const& each : elements_of(*answer, "sagas")) found = read_saga(each).id;
    return found;
  }

  result<void> list(saga_status status, std::optional<saga_id> from, visitor const& visit) override {
    std::string before;
    for (std::size_t page = 0; page < pages_max; ++page) {
      target asked{"/v1/sagas"};
      asked.query("status", name(status)).query("limit", std::to_string(page_size));
      if (!before.empty()) asked.query("before", before);
      auto const answer = daemon_.get(asked);
      if (!answer) return answer.error();
      auto const sagas = elements_of(*answer, "sagas");
      for (auto const& each : sagas) {
        auto row = read_saga(each);
        if (row.id.empty()) return error{errc::internal, "the daemon listed a saga without an id"};
        if (from && row.id < *from) return {};
        before = row.id.text();
        visit(row);
      }
      if (sagas.size() < page_size) return {};
    }
    return error{errc::exhausted, "the daemon's list of sagas has no end"};
  }

  result<std::optional<saga_row>> find(saga_id id) override {
    target from{"/v1/sagas"};
    from.segment(id.text());
    auto const answer = or_nothing(daemon_.get(from));
    if (!answer) return answer.error();
    return *answer ? std::optional{read_saga(**answer)} : std::optional<saga_row>{};
  }

  result<std::optional<std::vector<event>>> history(saga_id id) override {
    target from{"/v1/sagas"};
    from.segment(id.text()).segment("history");
    auto const answer = or_nothing(daemon_.get(from));
    if (!answer) return answer.error();
    return *answer ? std::optional{read_events(**answer)} : std::optional<std::vector<event>>{};
  }

  result<std::optional<std::string>> definition_text(definition_ref const& which) override {
    target from{"/v1/definitions"};
    from.segment(which.name).query("version", std::to_string(which.version.value()));
    auto const answer = or_nothing(daemon_.get(from));
    if (!answer) return answer.error();
    return *answer ? std::optional{text_of(**answer, "text")} : std::optional<std::string>{};
  }

  result<std::optional<saga_id>> deleted_up_to() override {
    auto const stats = daemon_.get(target{"/v1/stats"});
    if (!stats) return stats.error();
    auto const set = stats->find("retention");
    return set ? saga_id::parse(text_of(*set, "deleted_up_to")) : std::optional<saga_id>{};
  }

  std::optional<saga_id> complete_up_to() override { return std::nullopt; }

 private:
  daemon_client daemon_;
};

}  // namespace

std::unique_ptr<audit_journal> make_daemon_journal(surroundings const& with) {
  return std::make_unique<daemon_journal>(with);
}

}  // namespace atone::cli
