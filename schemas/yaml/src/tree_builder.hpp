// Builds nodes from yaml-cpp's events, within bounds.
#pragma once

#include <cstddef>
#include <exception>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <yaml-cpp/anchor.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/mark.h>

#include <atone/yaml/node.hpp>
#include <atone/yaml/report.hpp>

namespace atone::yaml {

// Thrown through yaml-cpp's parser to stop it, once the reason is in the report. Never leaves the adapter.
struct stop_reading : std::exception {};

// Receives the events of one document. Lives for one parse.
class tree_builder final : public YAML::EventHandler {
 public:
  tree_builder(std::string_view text, report& out) : text_(text), out_(out) {}

  void OnDocumentStart(YAML::Mark const& mark) override;
  void OnDocumentEnd() override {}
  void OnNull(YAML::Mark const& mark, YAML::anchor_t anchor) override;
  void OnAlias(YAML::Mark const& mark, YAML::anchor_t anchor) override;
  void OnScalar(YAML::Mark const& mark, std::string const& tag, YAML::anchor_t anchor, std::string const& value) override;
  void OnSequenceStart(YAML::Mark const& mark, std::string const& tag, YAML::anchor_t anchor, YAML::EmitterStyle::value style) override;
  void OnSequenceEnd() override { close(); }
  void OnMapStart(YAML::Mark const& mark, std::string const& tag, YAML::anchor_t anchor, YAML::EmitterStyle::value style) override;
  void OnMapEnd() override { close(); }

  std::optional<node> take() { return std::move(root_); }
  // The path of what is being read, for messages; bounded.
  std::string path() const;
  // Of what was read last: an item that has not begun is not named.
  std::string last_path() const;

 private:
  // A map or list that is still open.
  struct frame {
    node being_built;
    YAML::anchor_t anchor = 0;
    std::optional<node> key;  // of a map: read, its value not yet
    std::map<std::string, place, std::less<>> keys;
    bool cut_before = false;  // the entry before this one was an expression cut by a comma
  };

  node make(node_kind kind, YAML::Mark const& mark);
  void open(node_kind kind, YAML::Mark const& mark, std::string const& tag, YAML::anchor_t anchor, bool flow);
  void close();
  void add(node done, YAML::anchor_t anchor);
  void add_to_map(frame& map, node done);
  void check_key(frame& map, node const& key);
  void check_tag(node const& at, std::string const& tag);
  void remember(YAML::anchor_t anchor, node const& done);
  void count(std::size_t nodes, place at);
  place locate(std::size_t offset);
  void look_around(node& scalar, std::size_t offset) const;

  std::string_view text_;
  report& out_;
  std::vector<frame> open_;
  std::map<YAML::anchor_t, node> anchors_;
  std::optional<node> root_;
  std::size_t nodes_ = 0;
  // Where `locate` last was: events come in the order of the text, so that locating all is linear.
  std::size_t located_ = 0;
  place located_at_;
};

}  // namespace atone::yaml
