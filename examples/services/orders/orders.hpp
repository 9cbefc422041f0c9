// The order service: creates and cancels orders, announces them, and lists a user's orders.
//
//   POST   /orders {order_id, user, amount, quantity, placed_at}   DELETE /orders/{order_id}          (marks it cancelled)
//   POST   /announcements/{order_id}                               DELETE /announcements/{order_id}   (withdraws it)
//   GET    /users/{user}/orders?as_of=…&limit=…   GET /orders/{order_id}   GET /totals
#pragma once

#include "kit/service.hpp"

namespace orders {

inline constexpr std::int64_t listed_max = 1000;  // orders of one user in one answer, newest first

kit::service_definition define();

}  // namespace orders
