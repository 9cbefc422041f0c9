// The smallest participant: an order that is created, and undone.
// Thread rules: those of the database.
#pragma once

#include <string>

#include <atone/participant.hpp>

namespace sample {

atone::result<atone::participant::answer> create_order(atone::participant::participant_database& database,
                                                       atone::participant::call const& call, std::string order_id);
atone::result<atone::participant::answer> cancel_order(atone::participant::participant_database& database,
                                                       atone::participant::call const& call, std::string order_id);

}  // namespace sample
