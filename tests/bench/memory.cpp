// Sagas run through, and what the process keeps of them: nothing.
#include <algorithm>
#include <cstdio>

#include "commands.hpp"
#include "embedded_target.hpp"
#include "load.hpp"
#include "report.hpp"

namespace bench {
namespace {

constexpr std::uint64_t count_default = 1'000'000;
constexpr unsigned samples = 10;
constexpr auto look_every = std::chrono::milliseconds{5};
constexpr double megabyte = 1024.0 * 1024.0;

}  // namespace

void memory(stage& on) {
  auto const& with = on.options();
  auto const count = with.count == 0 ? count_default : with.count;
  auto const store = wanted_store(with, store_kind::sqlite);
  embedded_options opened;
  opened.coordinator.store = on.make_place(store).address;
  opened.coordinator.handler_threads = with.handler_threads;
  opened.to = callee::local;
  opened.keys = with.keys;
  embedded_target target{std::move(opened)};
  load of{on.clock(), target};
  atone::json::writer document;
  begin_document(document, on.options());
  document.key("store").string(name(store)).key("sagas").number(count).key("resident_mb").begin_array();
  table figures{{"sagas run through", "resident MB"}};
  double least = 0;
  double most = 0;
  of.keep_in_flight(with.in_flight.value_or(256));
  for (unsigned sample = 1; sample <= samples; ++sample) {
    while (of.ended() < count * sample / samples) {
      on.clock().pause(look_every);
      of.check();
    }
    auto const resident = static_cast<double>(resident_bytes_of_self()) / megabyte;
    least = sample == 1 ? resident : std::min(least, resident);
    most = std::max(most, resident);
    figures.add({std::to_string(count * sample / samples), figure(resident)});
    document.number(resident);
  }
  of.drain();
  std::printf("%s\n%s\nmost over least: %s\n", machine_text(on).c_str(), figures.text().c_str(), figure(most / least).c_str());
  document.end_array().key("most_over_least").number(most / least);
  finish_document(document, on);
}

}  // namespace bench
