#include "picture.hpp"

#include <optional>
#include <string_view>

namespace atone::drawing {
namespace {

constexpr std::size_t when_code_points_max = 48;
constexpr std::size_t value_code_points_max = 40;

std::string template_text(value_template const& of) {
  if (auto const* literal = of.as_literal()) return shorten(*literal, value_code_points_max);
  if (auto const* program = of.as_expression()) return shorten("=" + program->text(), value_code_points_max);
  return of.as_object() != nullptr ? "{…}" : "[…]";
}

std::string triggers_text(fallback const& of) {
  std::string out;
  auto const add = [&](fallback::trigger cause, std::string_view word) {
    if (!of.covers(cause)) return;
    if (!out.empty()) out += ", ";
    out += word;
  };
  add(fallback::trigger::timeout, "timeout");
  add(fallback::trigger::unavailable, "unavailable");
  add(fallback::trigger::refused, "refused");
  return "on " + out;
}

node fallback_node(std::string const& path, fallback const& of) {
  node made{node_kind::fallback, path + " fallback"};
  if (auto const* fixed = std::get_if<fallback::constant>(&of.use)) {
    made.title = "a fixed value";
    made.call = template_text(fixed->value);
  } else if (auto const* call = std::get_if<fallback::call>(&of.use)) {
    made.title = "another call";
    made.call = call_text(call->what);
  } else {
    auto const& last = std::get<fallback::last_output>(of.use);
    made.title = "last good output";
    made.call = "at most " + format_duration(last.max_age) + " old";
  }
  if (of.alert) made.mark = "alert: " + std::string{name(*of.alert)};
  return made;
}

// The service on one line, what it is asked on the next: a narrow label leaves room for the arrows.
std::string undo_text(target const& what) {
  auto out = call_text(what);
  if (auto const space = out.find(' '); space != std::string::npos) out[space] = '\n';
  return "undo: " + out;
}

node_kind kind_of(atomicity promise) {
  switch (promise) {
    case atomicity::compensable: return node_kind::compensable;
    case atomicity::pivot: return node_kind::pivot;
    case atomicity::retriable: return node_kind::retriable;
    case atomicity::read_only: return node_kind::read_only;
  }
  return node_kind::read_only;
}

std::string mark_of(atomicity promise) {
  switch (promise) {
    case atomicity::compensable: return "";
    case atomicity::pivot: return "pivot: no way back after it";
    case atomicity::retriable: return "repeated until done";
    case atomicity::read_only: return "reads only";
  }
  return "";
}

// Walks the steps in order. `previous` is what the next step follows; `way_back` is where its undoing leads, and is
// nothing once the pivot is behind.
class builder {
 public:
  explicit builder(definition const& of) : of_(of) {}

  picture build() {
    node start{node_kind::start, "start"};
    start.title = of_.ref.name + " v" + std::to_string(of_.ref.version.value());
    std::size_t const first = add(out_.root, std::move(start));
    place at{first, std::nullopt};
    if (!of_.steps.empty()) {
      node undone{node_kind::compensated, "compensated"};
      undone.title = "compensated";
      at.way_back = add(out_.root, std::move(undone));
    }
    sequence(out_.root, of_.steps, "", at);
    node done{node_kind::completed, "completed"};
    done.title = "completed";
    std::size_t const last = add(out_.root, std::move(done));
    if (!stopped_) out_.edges.emplace_back(at.previous, last, edge_kind::forward, "");
    return std::move(out_);
  }

 private:
  struct place {
    std::size_t previous = 0;
    std::optional<std::size_t> way_back;
  };

  std::size_t add(frame& in, node made) {
    out_.nodes.push_back(std::move(made));
    in.items.emplace_back(frame::node_ref{out_.nodes.size() - 1});
    return out_.nodes.size() - 1;
  }

  void sequence(frame& in, std::vector<step> const& steps, std::string_view parent, place& at) {
    for (auto const& one : steps) {
      std::string const path = parent.empty() ? one.id : std::string{parent} + '/' + one.id;
      if (std::holds_alternative<parallel_verb>(one.verb)) {
        parallel(in, one, path, at);
      } else {
        single(in, one, path, at);
      }
    }
  }

  // Joins the new node to what came before: one edge forward, one back while there is a way back.
  void link(place& at, std::size_t to, step const& one, std::string undo) {
    std::string const when = one.when ? "when " + shorten(one.when->text(), when_code_points_max) : "";
    if (!stopped_) out_.edges.emplace_back(at.previous, to, edge_kind::forward, when);
    stopped_ = false;
    if (at.way_back) out_.edges.emplace_back(to, *at.way_back, edge_kind::back, std::move(undo));
    at.previous = to;
    if (at.way_back) at.way_back = to;
  }

  void single(frame& in, step const& one, std::string const& path, place& at) {
    auto const* action = std::get_if<action_verb>(&one.verb);
    node made{action != nullptr ? kind_of(one.promise) : node_kind::fail, path};
    made.title = one.id;
    std::string undo;
    if (action != nullptr) {
      made.call = call_text(action->what);
      made.mark = mark_of(one.promise);
      if (action->compensate) undo = undo_text(action->compensate->what);
    } else {
      made.call = "fail " + template_text(std::get<fail_verb>(one.verb).reason);
    }
    std::size_t const index = add(in, std::move(made));
    if (one.promise == atomicity::pivot && undo.empty()) undo = "if refused";
    link(at, index, one, std::move(undo));
    if (action != nullptr && action->fallback) {
      std::size_t const beside = add(in, fallback_node(path, *action->fallback));
      out_.edges.emplace_back(index, beside, edge_kind::fallback, triggers_text(*action->fallback));
    }
    if (action != nullptr && one.promise == atomicity::pivot) at.way_back.reset();
    if (action == nullptr && !one.when) stopped_ = true;  // nothing is reached from here but the way back
  }

  void parallel(frame& in, step const& one, std::string const& path, place& at) {
    frame outer;
    outer.key = path;
    outer.title = one.id + ": in parallel";
    std::size_t const fork = add(outer, node{node_kind::fork, path + " fork"});
    link(at, fork, one, "");
    std::vector<place> tails;
    for (auto const& side : std::get<parallel_verb>(one.verb).branches) {
      frame inner;
      inner.key = path + '/' + side.name;
      inner.title = side.name;
      place tail = at;
      sequence(inner, side.steps, inner.key, tail);
      if (!stopped_) tails.push_back(tail);
      stopped_ = false;
      if (!side.steps.empty()) outer.items.emplace_back(std::move(inner));
    }
    std::size_t const join = add(outer, node{node_kind::join, path + " join"});
    for (auto const& tail : tails) {
      out_.edges.emplace_back(tail.previous, join, edge_kind::forward, "");
      if (tail.way_back) out_.edges.emplace_back(join, *tail.way_back, edge_kind::back, "");
    }
    stopped_ = tails.empty() && !std::get<parallel_verb>(one.verb).branches.empty();
    at.previous = join;
    if (at.way_back) at.way_back = join;
    in.items.emplace_back(std::move(outer));
  }

  definition const& of_;
  picture out_;
  bool stopped_ = false;  // after a step that always fails
};

}  // namespace

picture make_picture(definition const& of) {
  return builder{of}.build();
}

}  // namespace atone::drawing
