// Figures as a table for people and as JSON for programs. Thread rules: plain values.
#pragma once

#include <string>
#include <vector>

#include <atone/json.hpp>

#include "measure.hpp"
#include "stage.hpp"

namespace bench {

class table {
 public:
  explicit table(std::vector<std::string> header) : rows_{std::move(header)} {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  // First column to the left, figures to the right.
  std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

// "12345" from 1000 on, else with as many decimals as three digits leave.
std::string figure(double value);

// "2 cores, Linux 6.18 …", and what PostgreSQL was told if it was started.
std::string machine_text(stage& on);
// "loop 12.3, postgresql 45.6": where the microseconds of a saga went.
std::string cpu_text(case_figures const& of);
double whole_cpu(case_figures const& of);
std::string cases_text(std::vector<case_figures> const& of);
// key: {figures}
void write_case(atone::json::writer& to, case_figures const& of);
void begin_document(atone::json::writer& to, options const& of);
// Says at the end what the machine is; to the file named by --json, nothing without one.
void finish_document(atone::json::writer& to, stage& on);

}  // namespace bench
