#include "drill/plan_keys.hpp"

#include <array>

namespace atone::drill {
namespace {

using yaml::key_home;
using yaml::key_table;
template <std::size_t n>
using list = std::array<std::string_view, n>;

constexpr list<13> plan_now{"drill",  "coordinators", "token_file", "load", "proxies", "processes", "faults",
                            "rounds", "lasts",        "order",      "rest", "must",    "audit"};
constexpr list<6> load_now{"saga", "definition", "input", "in_flight", "rate", "warm_up"};
constexpr list<2> proxy_now{"listen", "to"};
constexpr list<4> process_now{"start", "pid_file", "ready", "log"};
constexpr list<23> fault_now{"kill",   "pause",        "proxy",       "run",    "clock", "by",     "undo",     "for",
                             "weight", "expect",       "delay",       "jitter", "stall", "reset",  "cut",      "duplicate",
                             "drip",   "lose_request", "lose_answer", "way",    "every", "refuse", "half_open"};
constexpr list<2> expect_now{"fallback", "alert"};
constexpr list<7> must_now{"recover_within", "back_to", "stays", "give_up", "settle", "parked", "ended_by_themselves"};
constexpr std::array homes{key_home{"saga", "load"},
                           key_home{"definition", "load"},
                           key_home{"input", "load"},
                           key_home{"in_flight", "load"},
                           key_home{"rate", "load"},
                           key_home{"warm_up", "load"},
                           key_home{"recover_within", "must"},
                           key_home{"back_to", "must"},
                           key_home{"stays", "must"},
                           key_home{"give_up", "must"},
                           key_home{"settle", "must"},
                           key_home{"parked", "must"},
                           key_home{"ended_by_themselves", "must"},
                           key_home{"kill", "faults"},
                           key_home{"pause", "faults"},
                           key_home{"proxy", "faults"},
                           key_home{"clock", "faults"},
                           key_home{"fallback", "expect"},
                           key_home{"alert", "expect"}};

}  // namespace

key_table const plan_keys{"the plan", plan_now, {}, {}, homes};
key_table const load_keys{"`load`", load_now, {}, {}, {}};
key_table const proxy_keys{"a proxy", proxy_now, {}, {}, {}};
key_table const process_keys{"a process", process_now, {}, {}, {}};
key_table const fault_keys{"a fault", fault_now, {}, {}, homes};
key_table const expect_keys{"`expect`", expect_now, {}, {}, {}};
key_table const must_keys{"`must`", must_now, {}, {}, {}};

}  // namespace atone::drill
