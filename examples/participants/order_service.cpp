// A participant in C++: one call does barrier, business and stored answer in one transaction. docs/participants.md shows this file.
#include "order_service.hpp"

namespace sample {

using atone::participant::answer;

// [participant]
atone::result<answer> create_order(atone::participant::participant_database& database, atone::participant::call const& call,
                                   std::string order_id) {
  auto outcome = database.run(call, [&](atone::participant::sql_session& sql) -> atone::result<answer> {
    auto const known = sql.execute("select 1 as one from orders where order_id = $1", {order_id});
    if (!known) return known.error();                                       // nothing happened: the coordinator tries again
    if (!known->empty()) return answer::no(R"({"error":"order exists"})");  // a final no, stored like any answer
    auto const made = sql.execute("insert into orders (order_id) values ($1)", {order_id});
    if (!made) return made.error();
    return answer::done("{\"order_id\":\"" + order_id + "\"}");
  });
  if (!outcome) return outcome.error();  // send 503
  return outcome->answer;                // send its status and body, whatever the verdict was
}

atone::result<answer> cancel_order(atone::participant::participant_database& database, atone::participant::call const& call,
                                   std::string order_id) {
  auto outcome = database.run(call, [&](atone::participant::sql_session& sql) -> atone::result<answer> {
    auto const gone = sql.execute("delete from orders where order_id = $1", {order_id});
    if (!gone) return gone.error();
    return answer::done("{}");
  });
  if (!outcome) return outcome.error();
  return outcome->answer;
}
// [participant]

}  // namespace sample
