// Graphviz. The way back is written as edges of the forward direction with `dir=back`: so the layout keeps the steps in
// their order and puts each undoing beside the arrow that it takes back.
#include <atone/draw.hpp>

#include <algorithm>

#include "picture.hpp"

namespace atone {
namespace {

using namespace drawing;

// Inside a quoted DOT string.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (char const letter : text) {
    if (letter == '"' || letter == '\\') out += '\\';
    out += letter;
  }
  return out + '"';
}

// Inside an HTML-like label.
std::string html(std::string_view text) {
  std::string out;
  for (char const letter : text) {
    switch (letter) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += letter;
    }
  }
  return out;
}

std::string_view look_of(node_kind kind) {
  switch (kind) {
    case node_kind::start: return R"(shape=box style="rounded,filled" fillcolor="#37474f" color="#37474f" fontcolor="#ffffff")";
    case node_kind::compensated: return R"(shape=box style="rounded,filled" fillcolor="#fbe9e7" color="#b3573f" fontcolor="#8d3f2b")";
    case node_kind::completed: return R"(shape=box style="rounded,filled" fillcolor="#e3efe5" color="#4f7f58" fontcolor="#2f5a38")";
    case node_kind::compensable: return R"(shape=box style="filled" fillcolor="#eef3f8" color="#6b879e")";
    case node_kind::pivot: return R"(shape=box style="filled" fillcolor="#fdf3dc" color="#a67c1e" penwidth=1.6 peripheries=2)";
    case node_kind::retriable: return R"(shape=box style="filled" fillcolor="#e8f2ea" color="#6d9575")";
    case node_kind::read_only: return R"(shape=box style="filled" fillcolor="#ffffff" color="#9aa5ad")";
    case node_kind::fail: return R"(shape=octagon style="filled" fillcolor="#fbe9e7" color="#b3573f")";
    case node_kind::fork:
    case node_kind::join: return R"(shape=box style="filled" fillcolor="#55656f" color="#55656f" width=3 height=0.06 fixedsize=true)";
    case node_kind::fallback: return R"(shape=note style="filled" fillcolor="#f6f4fa" color="#8f83ad" fontcolor="#4f4570")";
  }
  return "";
}

std::string label_of(node const& of) {
  if (of.kind == node_kind::fork || of.kind == node_kind::join) return "\"\"";
  std::string out = "<<b>" + html(of.title) + "</b>";
  if (!of.call.empty()) out += R"(<br/><font point-size="10">)" + html(of.call) + "</font>";
  if (!of.mark.empty()) out += R"(<br/><font point-size="9"><i>)" + html(of.mark) + "</i></font>";
  return out + ">";
}

class dot_writer {
 public:
  explicit dot_writer(picture const& of) : of_(of) {}

  std::string write() {
    out_ =
        "digraph saga {\n"
        "  graph [rankdir=TB ranksep=0.42 nodesep=0.5 pad=0.3 fontname=\"Helvetica,Arial,sans-serif\" fontsize=9\n"
        "         fontcolor=\"#6b7780\" labelloc=b labeljust=l newrank=true]\n"
        "  node [fontname=\"Helvetica,Arial,sans-serif\" fontsize=12 fontcolor=\"#263238\" margin=\"0.18,0.09\"]\n"
        "  edge [fontname=\"Helvetica,Arial,sans-serif\" fontsize=9 color=\"#55656f\" fontcolor=\"#455560\" arrowsize=0.7]\n";
    out_ += "  label=" + quoted("\n" + legend()) + "\n";
    items(of_.root, "  ");
    out_ += "  { rank=same; \"start\"; ";
    if (has(node_kind::compensated)) out_ += "\"compensated\"; ";
    out_ += "}\n";
    for (auto const& one : of_.edges) write_edge(one);
    return std::move(out_) + "}\n";
  }

 private:
  bool has(node_kind kind) const {
    for (auto const& one : of_.nodes) {
      if (one.kind == kind) return true;
    }
    return false;
  }

  std::string legend() const {
    std::string out;
    if (has(node_kind::compensated)) out += "dashed: the way back after a failure, each call undoing its step";
    if (has(node_kind::pivot)) out += out.empty() ? "double border: pivot" : "   ·   double border: pivot";
    if (has(node_kind::fallback)) out += "   ·   dotted: stands in for the step's output";
    return out;
  }

  void write_node(node const& of, std::string const& indent) {
    out_ += indent + quoted(of.key) + " [label=" + label_of(of) + ' ' + std::string{look_of(of.kind)} + "]\n";
  }

  void items(frame const& in, std::string const& indent) {
    for (auto const& item : in.items) {
      if (auto const* ref = std::get_if<frame::node_ref>(&item)) {
        write_node(of_.nodes[ref->index], indent);
        beside(ref->index, indent);
      } else {
        cluster(std::get<frame>(item), indent);
      }
    }
  }

  // A fallback stands on the height of its step, which was written just before it.
  void beside(std::size_t index, std::string const& indent) {
    if (of_.nodes[index].kind != node_kind::fallback) return;
    out_ += indent + "{ rank=same; " + quoted(of_.nodes[index - 1].key) + "; " + quoted(of_.nodes[index].key) + "; }\n";
  }

  void cluster(frame const& of, std::string const& indent) {
    out_ += indent + "subgraph " + quoted("cluster " + of.key) + " {\n";
    out_ += indent + "  label=<" + html(of.title) + "> labelloc=t labeljust=r fontsize=10 style=\"rounded\" color=\"#c3ccd2\" margin=10\n";
    items(of, indent + "  ");
    out_ += indent + "}\n";
  }

  void write_edge(edge const& one) {
    auto const& from = quoted(of_.nodes[one.from].key);
    auto const& to = quoted(of_.nodes[one.to].key);
    std::string const label = one.label.empty() ? "" : " label=<" + arrow_label(one.label) + ">";
    switch (one.kind) {
      case edge_kind::forward: out_ += "  " + from + " -> " + to + " [weight=4" + label + "]\n"; break;
      case edge_kind::back:
        out_ += "  " + to + " -> " + from + " [dir=back style=dashed color=\"#b3573f\" fontcolor=\"#8d3f2b\"" + label + "]\n";
        break;
      case edge_kind::fallback:
        out_ += "  " + from + " -> " + to + " [style=dotted color=\"#8f83ad\" fontcolor=\"#4f4570\"" + label + "]\n";
        break;
    }
  }

  // Each line of an arrow's label, a little away from the arrow.
  static std::string arrow_label(std::string_view text) {
    std::string out;
    for (std::size_t at = 0; at <= text.size();) {
      auto const end = std::min(text.find('\n', at), text.size());
      out += "&#160;&#160;" + html(text.substr(at, end - at)) + "<br align=\"left\"/>";
      at = end + 1;
    }
    return out;
  }

  picture const& of_;
  std::string out_;
};

}  // namespace

std::string draw_dot(definition const& of) {
  auto const shown = drawing::make_picture(of);
  return dot_writer{shown}.write();
}

}  // namespace atone
