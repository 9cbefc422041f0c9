// Which sagas were at work beside each other on the same key: those of one `lock` must not have been, those of one `shard_key` may have.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <atone/audit.hpp>

#include "facts.hpp"

namespace atone::audit {

class isolation_books {
 public:
  // An ended saga with a whole history; nothing is kept of one whose definition ties it to no key.
  void note(saga_facts const& of);
  // Of all that were noted. A finding for each saga that had its lock while another had it.
  isolation judge(std::vector<finding>& broken) const;

 private:
  struct at_work {
    saga_id saga;
    timestamp begin, end;
    std::uint64_t services = 0;  // bits, by the order in which they were met; the last one stands for all beyond
    bool undone = false;
    bool locked = false;

    at_work() = default;
  };
  class sweep;

  std::uint64_t bit_of(std::string const& service);

  std::map<std::string, std::vector<at_work>> by_key_;  // of the key's value as canonical JSON, "lock " before it where it is one
  std::map<std::string, std::size_t> services_;
};

}  // namespace atone::audit
