// Uses the installed library as a user would.
#include <iostream>

#include <atone/ids.hpp>
#include <atone/time.hpp>

int main() {
  auto const saga = atone::saga_id::parse("01JDZ4M6GQ5V7Y8N2W3X4R5T6K");
  auto const limit = atone::parse_duration("15m");
  if (!saga || !limit || saga->text() != "01JDZ4M6GQ5V7Y8N2W3X4R5T6K") return 1;
  auto const key = atone::trace_id::of(*saga, atone::step_path{"order"}, atone::operation::act);
  std::cout << "key " << key.text() << ", limit " << atone::format_duration(*limit) << "\nconsumer: ok\n";
  return 0;
}
