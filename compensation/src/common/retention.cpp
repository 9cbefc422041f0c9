#include <atone/retention.hpp>

#include <algorithm>

#include <atone/journal.hpp>

namespace atone {

saga_id first_id_at(timestamp at) noexcept {
  auto const since = std::chrono::duration_cast<std::chrono::milliseconds>(at.time_since_epoch()).count();
  auto const milliseconds = static_cast<std::uint64_t>(std::max<std::int64_t>(0, since));
  saga_id::bytes bytes{};
  for (std::size_t place = 0; place < 6; ++place) bytes[place] = static_cast<std::uint8_t>(milliseconds >> (8 * (5 - place)));
  return saga_id{bytes};
}

error no_such_saga(journal_reader& in, saga_id id) {
  auto const gone = in.deletions();
  if (!gone) return gone.error();
  bool const may_have_been = gone->newest && id <= *gone->newest;
  return error{errc::not_found, "no saga " + id.text() +
                                    (may_have_been ? ": it has ended and was deleted after its retention, or there never was one" : "")};
}

}  // namespace atone
