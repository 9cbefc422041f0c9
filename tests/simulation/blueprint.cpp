#include "blueprint.hpp"

#include <algorithm>
#include <stdexcept>

#include <atone/load.hpp>

namespace atone::simulation {
namespace {

constexpr int depth_max = 2;  // of parallel steps inside each other

std::string flag_name(int number) {
  return "f" + std::to_string(number);
}

std::string milliseconds(std::uint64_t count) {
  return std::to_string(count) + "ms";
}

// Writes one definition. What it decides is kept in the blueprint beside the text.
class writer {
 public:
  writer(dice& from, blueprint& to, bool with_local, bool may_refuse_undo)
      : dice_(from), to_(to), with_local_(with_local), undo_may_end_(may_refuse_undo) {}

  void write() {
    head();
    bool const has_pivot = dice_.chance(400);
    auto const before = dice_.between(1, 4);
    auto const after = has_pivot ? dice_.below(3) : 0;
    to_.yaml += "steps:\n";
    frame root;
    for (std::uint64_t n = 0; n < before; ++n) step(root, false);
    if (has_pivot) pivot(root);
    for (std::uint64_t n = 0; n < after; ++n) step(root, true);
    to_.yaml += "output: {user: =input.user}\n";
  }

 private:
  // A sequence while it is written.
  struct frame {
    std::string path;  // with the slash behind it
    std::string indent = "  ";
    place where;  // of the sequence itself
    int depth = 0;
    int next = 0;
    std::vector<int> flags;
    std::vector<step_plan> readable;  // steps whose output a later one may be sent

    frame() = default;
  };

  void head() {
    auto& text = to_.yaml;
    text = "saga: " + to_.name +
           "\nversion: 1\ninput:\n  type: object\n  required: [user, f0, f1, f2, f3]\n  properties:\n    user: {type: integer}\n";
    for (int n = 0; n < input_flags; ++n) text += "    " + flag_name(n) + ": {type: boolean}\n";
    if (dice_.chance(750)) {
      auto const seconds = dice_.between(2, 90);
      text += "deadline: " + std::to_string(seconds) + "s\n";
      to_.deadline = std::chrono::seconds{seconds};
    }
    to_.sharded = dice_.chance(300);
    auto aside = dice_;  // what it draws leaves the rest of a seed as it was
    to_.locked = to_.sharded && aside.chance(500);
    if (to_.sharded) text += to_.locked ? "lock: =input.user\n" : "shard_key: =input.user\n";
    text += "services:\n  a: {http: \"http://127.0.0.1:1\"}\n  b: {http: \"http://127.0.0.1:2\", in_flight: 2}\n  shop: {local: shop}\n";
    text += "defaults:\n  attempt_timeout: " + milliseconds(dice_.between(200, 3000)) + "\n";
    text += "  retry: {attempts: " + std::to_string(attempts_ = static_cast<std::uint32_t>(dice_.between(1, 5))) +
            ", delay: 100ms, factor: 2, cap: 2s, jitter: full}\n";
    text += "  compensate: {delay: 100ms, factor: 2, cap: 2s, jitter: full}\n";
  }

  step_plan begin(frame& in, char letter) {
    step_plan made;
    auto const id = std::string{static_cast<char>(letter + in.depth)} + std::to_string(in.next);
    made.path = in.path + id;
    made.where = in.where;
    made.where.way.emplace_back(in.next++, -1);
    made.flags = in.flags;
    to_.yaml += in.indent + "- id: " + id + "\n";
    return made;
  }

  void line(frame const& in, std::string const& text) { to_.yaml += in.indent + "  " + text + "\n"; }

  void condition(frame const& in, step_plan& made, std::uint32_t thousandths) {
    if (!dice_.chance(thousandths)) return;
    made.when = static_cast<int>(dice_.below(input_flags));
    made.flags.push_back(made.when);
    line(in, "when: =input." + flag_name(made.when));
  }

  void step(frame& in, bool committed) {
    if (in.depth < depth_max && dice_.chance(200)) return parallel(in, committed);
    if (!committed && dice_.chance(40)) return fail(in);
    auto made = begin(in, 's');
    condition(in, made, 200);
    if (dice_.chance(150)) {
      made.kind = promise::read_only;
      line(in, "read_only: true");
    } else if (committed) {
      made.kind = promise::retriable;
      line(in, "retriable: true");
    }
    call(in, made);
    if (made.kind == promise::compensable) undo(in, made);
    if (made.kind != promise::retriable) patience(in, made, !committed);
    keep(in, std::move(made));
  }

  void pivot(frame& in) {
    auto made = begin(in, 's');
    made.kind = promise::pivot;
    condition(in, made, 100);
    to_.pivot_flag = made.when;
    line(in, "pivot: true");
    call(in, made);
    if (dice_.chance(500)) undo(in, made);
    retry(in, made);
    to_.pivot = made.path;
    keep(in, std::move(made));
  }

  void keep(frame& in, step_plan made) {
    if (made.instead == stand_in::none) in.readable.push_back(made);
    auto path = made.path;
    to_.steps.emplace(std::move(path), std::move(made));
  }

  void call(frame& in, step_plan& made) {
    made.local = with_local_ && dice_.chance(250);
    auto const name = made.path.substr(made.path.find_last_of('/') + 1);
    line(in, "call: " + (made.local ? "shop act_" + name : std::string{dice_.chance(800) ? "a" : "b"} + " POST /" + name));
    std::string sent = "user: =input.user";
    if (!in.readable.empty() && dice_.chance(500)) {
      auto const& from = in.readable[dice_.below(in.readable.size())];
      auto const value = "steps." + from.path.substr(from.path.find_last_of('/') + 1) + ".out";
      made.reads = from.path;
      made.reads_guarded = from.when >= 0;
      sent += made.reads_guarded ? ", read: \"=has(" + value + ") ? " + value + ".v : -1\"" : ", read: =" + value + ".v";
    }
    line(in, "in: {" + sent + "}");
    line(in, "out: {type: object, required: [v], properties: {v: {type: integer}}}");
  }

  void undo(frame& in, step_plan& made) {
    made.has_undo = true;
    line(in, "compensate:");
    auto const name = made.path.substr(made.path.find_last_of('/') + 1);
    line(in, made.local ? "  call: shop undo_" + name : "  call: a POST /undo/" + name);
    line(in, "  in: {user: =input.user, seen: \"=has(out.v) ? out.v : -1\"}");
    if (undo_may_end_ && dice_.chance(300)) {
      made.undo_attempts = static_cast<std::uint32_t>(dice_.between(1, 4));
      line(in, "  attempts: " + std::to_string(*made.undo_attempts));
    }
    if (dice_.chance(200)) line(in, "  limit: " + std::to_string(dice_.between(30, 1200)) + "s");
  }

  void retry(frame& in, step_plan& made) {
    made.attempts = attempts_;
    if (!dice_.chance(300)) return;
    made.attempts = static_cast<std::uint32_t>(dice_.between(1, 6));
    auto const delay = dice_.between(50, 1500);
    made.least_delay = std::chrono::milliseconds{delay};
    line(in, "retry: {attempts: " + std::to_string(*made.attempts) + ", delay: " + milliseconds(delay) + ", jitter: none}");
  }

  void patience(frame& in, step_plan& made, bool may_fall_back) {
    retry(in, made);
    if (dice_.chance(300)) line(in, "timeout: " + milliseconds(dice_.between(200, 6000)));
    if (!may_fall_back || !dice_.chance(250)) return;
    static constexpr char const* triggers[] = {"[timeout, unavailable]", "[refused]", "[timeout, unavailable, refused]"};
    auto const on = std::string{"on: "} + triggers[dice_.below(3)];
    switch (dice_.below(3)) {
      case 0:
        made.instead = stand_in::value;
        line(in, "fallback: {" + on + ", use: {value: {v: 999}}}");
        break;
      case 1:
        made.instead = stand_in::call;
        line(in, "fallback: {" + on + ", use: {call: a POST /instead, in: {user: =input.user}}}");
        break;
      default:
        made.instead = stand_in::last_output;
        line(in, "fallback: {" + on + ", use: last_output, key: =input.user, max_age: 24h, alert: warn}");
    }
  }

  void fail(frame& in) {
    auto made = begin(in, 'x');
    condition(in, made, 1000);
    line(in, "fail: {reason: on purpose}");
    to_.fails.push_back(std::move(made));
  }

  void parallel(frame& in, bool committed) {
    auto made = begin(in, 'p');
    condition(in, made, 150);
    line(in, "parallel: {join: all, on_failure: cancel_rest}");
    line(in, "branches:");
    auto const branches = dice_.between(1, 3);
    for (std::uint64_t n = 0; n < branches; ++n) {
      auto const name = std::string{"b"} + std::to_string(n);
      to_.yaml += in.indent + "    " + name + ":\n";
      frame inner;
      inner.path = made.path + "/" + name + "/";
      inner.indent = in.indent + "      ";
      inner.where = made.where;
      inner.where.way.back().second = static_cast<int>(n);
      inner.depth = in.depth + 1;
      inner.flags = made.flags;
      inner.readable = in.readable;
      auto const count = dice_.between(1, 3);
      for (std::uint64_t at = 0; at < count; ++at) step(inner, committed);
    }
  }

  dice& dice_;
  blueprint& to_;
  bool with_local_;
  bool undo_may_end_;
  std::uint32_t attempts_ = 1;
};

definition_ptr load(blueprint const& made) {
  auto loaded = load_definition(made.yaml);
  if (!loaded.ok()) {
    throw std::runtime_error{"the loader refuses a drawn definition: " + format(loaded.diagnostics.at(0), made.name) + "\n" + made.yaml};
  }
  return loaded.definition;
}

}  // namespace

order_of compare(place const& left, place const& right) {
  for (std::size_t at = 0; at < std::min(left.way.size(), right.way.size()); ++at) {
    auto const& [one, branch] = left.way[at];
    auto const& [other, other_branch] = right.way[at];
    if (one != other) return one < other ? order_of::before : order_of::after;
    if (branch != other_branch) return order_of::beside;
  }
  return order_of::beside;  // the same step
}

blueprint draw_blueprint(dice& from, std::string name, bool with_local, bool may_refuse_undo) {
  blueprint made;
  made.name = std::move(name);
  writer{from, made, with_local, may_refuse_undo}.write();
  made.loaded = load(made);
  return made;
}

blueprint fixed_blueprint(std::string name, std::string yaml, std::vector<step_plan> steps) {
  blueprint made;
  made.name = std::move(name);
  made.yaml = std::move(yaml);
  for (auto& one : steps) {
    auto path = one.path;
    made.steps.emplace(std::move(path), std::move(one));
  }
  made.loaded = load(made);
  return made;
}

blueprint six_steps() {
  std::string yaml = R"(saga: six
version: 1
deadline: 10m
services:
  a: {http: "http://127.0.0.1:1"}
defaults:
  attempt_timeout: 1s
  retry: {attempts: 3, delay: 300ms, factor: 2, cap: 1s, jitter: none}
  compensate: {delay: 100ms, factor: 2, cap: 1s, jitter: none}
steps:
)";
  std::vector<step_plan> steps;
  for (int n = 0; n < 6; ++n) {
    auto const id = "s" + std::to_string(n);
    yaml += "  - id: " + id + "\n    call: a POST /" + id + "\n    in: {}\n    out: {type: object, required: [v]}\n" +
            "    compensate: {call: a POST /undo, in: {}}\n";
    step_plan made;
    made.path = id;
    made.where.way.emplace_back(n, -1);
    made.has_undo = true;
    made.attempts = 3;
    made.least_delay = std::chrono::milliseconds{300};
    steps.push_back(std::move(made));
  }
  return fixed_blueprint("six", std::move(yaml), std::move(steps));
}

}  // namespace atone::simulation
