// What a coordinator reads when it takes over. Thread rules: one thread at a time for a session.
#pragma once

#include <atone/journal.hpp>

#include "postgres/session.hpp"

namespace atone::postgres {

result<void> load_open_sagas(session& on, std::vector<shard> const& of, journal::saga_sink const& sink);
result<std::vector<open_saga>> load_sagas(session& on, std::vector<saga_place> const& which);
// `shards`: how many the store has.
result<std::vector<inbox_start>> load_inbox(session& on, std::vector<shard> const& of, std::uint16_t shards, std::uint32_t limit,
                                            std::uint64_t after);

}  // namespace atone::postgres
