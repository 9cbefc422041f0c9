// Mermaid flowchart. Node names are n0, n1 …: Mermaid has reserved words ("end") and no way to quote a name.
#include <atone/draw.hpp>

#include "picture.hpp"

namespace atone {
namespace {

using namespace drawing;

// Inside a quoted Mermaid label: its entity codes begin with '#', "%%" opens comments, a backtick opens Markdown. Line ends
// are ours: those of foreign texts became spaces (shorten).
std::string escaped(std::string_view text) {
  std::string out;
  for (char const letter : text) {
    switch (letter) {
      case '#': out += "#35;"; break;
      case '&': out += "#amp;"; break;
      case '<': out += "#lt;"; break;
      case '>': out += "#gt;"; break;
      case '"': out += "#quot;"; break;
      case '%': out += "#37;"; break;
      case '`': out += "#96;"; break;
      case '\\': out += "#92;"; break;
      case '\n': out += "<br/>"; break;
      default: out += letter;
    }
  }
  return out;
}

struct brackets {
  std::string_view open;
  std::string_view close;
  std::string_view style;
};

brackets shape_of(node_kind kind) {
  switch (kind) {
    case node_kind::start: return {"([", "])", "start"};
    case node_kind::compensated: return {"([", "])", "compensated"};
    case node_kind::completed: return {"([", "])", "completed"};
    case node_kind::compensable: return {"[", "]", "compensable"};
    case node_kind::pivot: return {"[[", "]]", "pivot"};
    case node_kind::retriable: return {"[", "]", "retriable"};
    case node_kind::read_only: return {"[", "]", "readOnly"};
    case node_kind::fail: return {"{{", "}}", "fail"};
    case node_kind::fork: return {"((", "))", "gate"};
    case node_kind::join: return {"((", "))", "gate"};
    case node_kind::fallback: return {">", "]", "standIn"};
  }
  return {"[", "]", "compensable"};
}

std::string label_of(node const& of) {
  if (of.kind == node_kind::fork) return "fork";
  if (of.kind == node_kind::join) return "join";
  std::string out = "<b>" + escaped(of.title) + "</b>";
  if (!of.call.empty()) out += "<br/>" + escaped(of.call);
  if (!of.mark.empty()) out += "<br/><i>" + escaped(of.mark) + "</i>";
  return out;
}

std::string name_of(std::size_t index) {
  return "n" + std::to_string(index);
}

constexpr std::string_view styles =
    "  classDef start fill:#37474f,stroke:#37474f,color:#ffffff\n"
    "  classDef compensated fill:#fbe9e7,stroke:#b3573f,color:#8d3f2b\n"
    "  classDef completed fill:#e3efe5,stroke:#4f7f58,color:#2f5a38\n"
    "  classDef compensable fill:#eef3f8,stroke:#6b879e,color:#263238\n"
    "  classDef pivot fill:#fdf3dc,stroke:#a67c1e,stroke-width:3px,color:#263238\n"
    "  classDef retriable fill:#e8f2ea,stroke:#6d9575,color:#263238\n"
    "  classDef readOnly fill:#ffffff,stroke:#9aa5ad,color:#263238\n"
    "  classDef fail fill:#fbe9e7,stroke:#b3573f,color:#263238\n"
    "  classDef gate fill:#55656f,stroke:#55656f,color:#ffffff,font-size:10px\n"
    "  classDef standIn fill:#f6f4fa,stroke:#8f83ad,color:#4f4570\n";

class mermaid_writer {
 public:
  explicit mermaid_writer(picture const& of) : of_(of) {}

  std::string write() {
    out_ = "flowchart TB\n";
    items(of_.root, "  ");
    for (auto const& one : of_.edges) write_edge(one);
    out_ += styles;
    back_edges();
    return std::move(out_);
  }

 private:
  void items(frame const& in, std::string const& indent) {
    for (auto const& item : in.items) {
      if (auto const* ref = std::get_if<frame::node_ref>(&item)) {
        write_node(ref->index, indent);
      } else {
        subgraph(std::get<frame>(item), indent);
      }
    }
  }

  void write_node(std::size_t index, std::string const& indent) {
    auto const& one = of_.nodes[index];
    auto const shape = shape_of(one.kind);
    out_ += indent + name_of(index);
    out_ += shape.open;
    out_ += '"' + label_of(one) + '"';
    out_ += shape.close;
    out_ += ":::";
    out_ += shape.style;
    out_ += '\n';
  }

  void subgraph(frame const& of, std::string const& indent) {
    out_ += indent + "subgraph g" + std::to_string(frames_++) + "[\"" + escaped(of.title) + "\"]\n";
    items(of, indent + "  ");
    out_ += indent + "end\n";
  }

  void write_edge(edge const& one) {
    std::string_view const line = one.kind == edge_kind::forward ? "-->" : "-.->";
    out_ += "  " + name_of(one.from) + ' ';
    out_ += line;
    if (!one.label.empty()) out_ += "|\"" + escaped(one.label) + "\"|";
    out_ += ' ' + name_of(one.to) + '\n';
  }

  // Colours the way back; links are numbered in the order they were written.
  void back_edges() {
    std::string numbers;
    for (std::size_t at = 0; at < of_.edges.size(); ++at) {
      if (of_.edges[at].kind != edge_kind::back) continue;
      if (!numbers.empty()) numbers += ',';
      numbers += std::to_string(at);
    }
    if (!numbers.empty()) out_ += "  linkStyle " + numbers + " stroke:#b3573f,color:#8d3f2b\n";
  }

  picture const& of_;
  std::string out_;
  std::size_t frames_ = 0;
};

}  // namespace

std::string draw_mermaid(definition const& of) {
  auto const shown = drawing::make_picture(of);
  return mermaid_writer{shown}.write();
}

}  // namespace atone
