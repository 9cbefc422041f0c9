#include "device/arena.hpp"

namespace atone::features {
namespace {

template <class T, class Change>
void change_list(flat_list<T>& list, Change const& change) {
  change(list.at);
}

template <class Change>
void change_plan(flat_plan& plan, Change const& change) {
  change_list(plan.numbers, change);
  change_list(plan.conditions, change);
  change_list(plan.filters, change);
  change_list(plan.frames, change);
  change_list(plan.walks, change);
  change_list(plan.stops, change);
  change_list(plan.sinks, change);
  change_list(plan.quotients, change);
}

template <class Change>
void change_columns(store_image& image, Change const& change) {
  auto* const columns = columns_of(image);
  for (std::uint32_t at = 0; at < image.store.columns.size; ++at) {
    change(columns[at].values);
    change(columns[at].nulls);
  }
}

template <class Change>
void change_results(job_image& image, Change const& change) {
  auto* const results = results_of(image);
  for (std::uint32_t at = 0; at < image.job.results.size; ++at) {
    change(results[at].cells);
    change(results[at].states);
  }
}

template <class Change>
void change_store(store_image& image, Change const& change) {
  change(image.store.times);
  change(image.store.known_from);
  change(image.store.known_until);
  change(image.store.columns.at);
}

template <class Change>
void change_job(job_image& image, Change const& change) {
  change_plan(image.job.plan, change);
  change(image.job.requests);
  change(image.job.results.at);
}

unsigned char* bytes_of(void* image) {
  return static_cast<unsigned char*>(image);
}

}  // namespace

flat_column* columns_of(store_image& image) {
  return const_cast<flat_column*>(image.store.columns.at);
}

flat_result* results_of(job_image& image) {
  return const_cast<flat_result*>(image.job.results.at);
}

store_image* place_store(arena& into, flat_store const& from) {
  store_image here;
  auto* const made = into.room<store_image>(1);
  here.store = from;
  here.store.times = into.place(from.times, from.rows);
  here.store.known_from = into.place(from.known_from, from.rows);
  here.store.known_until = into.place(from.known_until, from.rows);
  here.store.columns = into.place(from.columns);
  for (std::uint32_t at = 0; at < from.columns.size; ++at) {
    auto column = from.columns.at[at];
    // The times stand in columns too: once in the image, as in the store.
    column.values = column.values == from.times ? here.store.times : into.place(column.values, from.rows);
    column.nulls = into.place(column.nulls, from.rows);
    if (made != nullptr) columns_of(here)[at] = column;
  }
  if (made != nullptr) *made = here;
  return made;
}

job_image* place_job(arena& into, device_job const& from) {
  job_image here;
  auto* const made = into.room<job_image>(1);
  here.job = from;
  here.job.plan.numbers = into.place(from.plan.numbers);
  here.job.plan.conditions = into.place(from.plan.conditions);
  here.job.plan.filters = into.place(from.plan.filters);
  here.job.plan.frames = into.place(from.plan.frames);
  here.job.plan.walks = into.place(from.plan.walks);
  here.job.plan.stops = into.place(from.plan.stops);
  here.job.plan.sinks = into.place(from.plan.sinks);
  here.job.plan.quotients = into.place(from.plan.quotients);
  here.job.requests = into.place(from.requests, from.rows);
  here.job.results = into.place(from.results);
  for (std::uint32_t at = 0; at < from.results.size; ++at) {
    auto column = from.results.at[at];
    auto const cells = static_cast<std::size_t>(from.rows) * column.lanes;
    column.cells = into.room<std::int64_t>(cells);
    if (column.states != nullptr) column.states = into.room<cell_state>(cells);
    if (made != nullptr) results_of(here)[at] = column;
  }
  if (made != nullptr) *made = here;
  return made;
}

void to_distances(store_image& image) {
  pointers_to_distances const change{bytes_of(&image)};
  change_columns(image, change);
  change_store(image, change);
}

void to_distances(job_image& image) {
  pointers_to_distances const change{bytes_of(&image)};
  change_results(image, change);
  change_job(image, change);
}

void to_pointers(store_image& image) {
  distances_to_pointers const change{bytes_of(&image)};
  change_store(image, change);
  change_columns(image, change);
}

void to_pointers(job_image& image) {
  distances_to_pointers const change{bytes_of(&image)};
  change_job(image, change);
  change_results(image, change);
}

}  // namespace atone::features
