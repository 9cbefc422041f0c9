#include "report.hpp"

#include <sys/utsname.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <thread>

#include "failure.hpp"

namespace bench {
namespace {

std::string rounded(double value, int decimals) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
  return text.data();
}

std::string name_text(case_figures const& of) {
  return of.offered_per_s ? of.name + " (offered " + figure(*of.offered_per_s) + "/s)" : of.name;
}

std::string turned_away_text(std::vector<case_figures> const& of) {
  std::string text;
  for (auto const& each : of) {
    if (each.turned_away > 0) text += each.name + ": " + std::to_string(each.turned_away) + " sagas were turned away\n";
  }
  return text;
}

std::string optional_figure(std::optional<double> const& of) {
  return of ? figure(*of) : "-";
}

// Three more digits than anybody believes.
double shortened(double value) {
  return std::round(value * 1e6) / 1e6;
}

void write_number(atone::json::writer& to, std::string_view key, double value) {
  to.key(key).number(shortened(value));
}

std::string first_line(std::string const& text) {
  return text.substr(0, text.find('\n'));
}

std::string processor() {
  std::istringstream lines{file_text("/proc/cpuinfo")};
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
  }
  return "processor unknown";
}

}  // namespace

std::string table::text() const {
  std::vector<std::size_t> widths;
  for (auto const& row : rows_) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t at = 0; at < row.size(); ++at) widths[at] = std::max(widths[at], row[at].size());
  }
  std::string out;
  for (auto const& row : rows_) {
    for (std::size_t at = 0; at < row.size(); ++at) {
      std::string const space(widths[at] - row[at].size(), ' ');
      out += at == 0 ? row[at] + space : "  " + space + row[at];
    }
    out += '\n';
  }
  return out;
}

std::string figure(double value) {
  auto const size = std::fabs(value);
  if (size >= 100) return rounded(value, 0);
  if (size >= 10) return rounded(value, 1);
  if (size >= 1) return rounded(value, 2);
  return rounded(value, 4);
}

std::string machine_text(stage& on) {
  utsname system{};
  ::uname(&system);
  auto text = std::to_string(std::thread::hardware_concurrency()) + " cores (" + processor() + "), " + system.sysname + ' ' +
              system.release + ", load average " + first_line(file_text("/proc/loadavg")) + '\n';
  if (!on.has_postgresql()) return text;
  return text + "PostgreSQL " + on.postgresql().version() + ": " + postgresql_cluster::settings() +
         (on.options().unix_socket ? ", by Unix socket" : ", by TCP on loopback") + "\n";
}

std::string cpu_text(case_figures const& of) {
  std::string text;
  for (auto const& [part, cost] : of.cpu_us_per_saga) text += (text.empty() ? "" : ", ") + part + ' ' + figure(cost);
  return text;
}

double whole_cpu(case_figures const& of) {
  double sum = 0;
  for (auto const& [part, cost] : of.cpu_us_per_saga) sum += cost;
  return sum;
}

std::string cases_text(std::vector<case_figures> const& of) {
  table figures{{"", "sagas/s", "p50 ms", "p99 ms", "p99.9 ms", "commits/saga", "log B/saga", "records/commit", "loop us/event",
                 "CPU us/saga", "idle %", "others %"}};
  table costs{{"CPU microseconds a saga", ""}};
  for (auto const& each : of) {
    figures.add({name_text(each), figure(each.sagas_per_s), figure(each.p50_ms), figure(each.p99_ms), figure(each.p999_ms),
                 optional_figure(each.commits_per_saga), optional_figure(each.wal_bytes_per_saga), optional_figure(each.records_per_commit),
                 optional_figure(each.loop_us_per_event), figure(whole_cpu(each)), figure(each.idle_percent), figure(each.others_percent)});
    costs.add({each.name, cpu_text(each)});
  }
  return figures.text() + '\n' + costs.text() + turned_away_text(of);
}

void write_case(atone::json::writer& to, case_figures const& of) {
  to.key(of.name).begin_object();
  to.key("sagas").number(of.sagas).key("turned_away").number(of.turned_away);
  write_number(to, "sagas_per_s", of.sagas_per_s);
  write_number(to, "p50_ms", of.p50_ms);
  write_number(to, "p99_ms", of.p99_ms);
  write_number(to, "p999_ms", of.p999_ms);
  if (of.commits_per_saga) write_number(to, "commits_per_saga", *of.commits_per_saga);
  if (of.wal_bytes_per_saga) write_number(to, "wal_bytes_per_saga", *of.wal_bytes_per_saga);
  if (of.records_per_commit) write_number(to, "records_per_commit", *of.records_per_commit);
  if (of.loop_us_per_event) write_number(to, "loop_us_per_event", *of.loop_us_per_event);
  if (of.offered_per_s) write_number(to, "offered_per_s", *of.offered_per_s);
  if (of.deleted_per_s) write_number(to, "deleted_per_s", *of.deleted_per_s);
  write_number(to, "idle_percent", of.idle_percent);
  write_number(to, "others_percent", of.others_percent);
  to.key("cpu_us_per_saga").begin_object();
  for (auto const& [part, cost] : of.cpu_us_per_saga) write_number(to, part, cost);
  to.end_object().end_object();
}

void begin_document(atone::json::writer& to, options const& of) {
  to.begin_object().key("measured").string(of.name);
  to.key("seconds").number(std::chrono::duration<double>{of.window}.count());
}

void finish_document(atone::json::writer& to, stage& on) {
  auto const text = to.key("machine").string(machine_text(on)).end_object().take();
  auto const& file = on.options().json_file;
  if (file.empty()) return;
  std::ofstream out{file};
  out << text << '\n';
  if (!out.flush()) throw failure{file + " can't be written"};
}

}  // namespace bench
