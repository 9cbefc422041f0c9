// Who uses the coordinators: clients that start sagas and repeat a start until it is answered, some that wait for the end, and operators
// who cancel, pause, retry, skip and complete. In the calm phase operators see to everything that waits for a person.
// Thread rules: one thread.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "world.hpp"

namespace atone::simulation {

class people {
 public:
  explicit people(world& in) : world_(in) {}

  // Sets everything going.
  void begin();
  bool all_answered() const noexcept { return unanswered_ == 0; }

 private:
  struct wish {
    std::string saga;
    std::string key;
    std::string input;
    bool answered = false;

    wish() = default;
  };

  void one_saga(unsigned number);
  void ask(std::shared_ptr<wish> const& what);
  void ask_by_sql(std::shared_ptr<wish> const& what);
  void look_for(std::shared_ptr<wish> const& what, int missed = 0);
  void answered(std::shared_ptr<wish> const& what, saga_id id);
  void wait_for(saga_id id);
  void act_later(saga_id id, operator_request::action_kind what, duration within);
  void act(operator_request const& what);
  void look_at(saga_id id);
  void rounds();
  void view(node& at, saga_id id, std::function<void(saga_view const&)> then);
  void see_to(saga_id id);
  void settle(saga_view const& view, step_path const& step);
  node* any_node();
  node* driver_of(saga_id id);

  world& world_;
  unsigned unanswered_ = 0;
  std::map<std::pair<saga_id, std::string>, int> tries_;
};

}  // namespace atone::simulation
