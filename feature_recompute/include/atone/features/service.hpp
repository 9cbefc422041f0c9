// The feature service: events come in, features of an entity are recomputed when somebody asks (a saga's step does), and what was computed
// is published under a number that only rises. All of it is durable, in a folder of the service's own, before anybody is told.
//
// - A recompute has the key of the step that wants it. The same key again gets the stored answer, byte for byte, over restarts too.
// - An input older than what is published is *superseded*: a success, since what stands is newer than what was asked for.
// - republish() undoes a recompute: the version before comes again under a new number, marked "to be updated". It may come twice, before
//   the recompute (which is refused from then on), or without one.
// - Requests gather while others are at work, and each entity of such a batch is computed once, from the newest input.
// - Where GPUs are configured, batches that are worth it go there; the result is the same bits.
//
// Thread rules: every member from any thread. Callbacks and alerts come from the service's own threads (of what is refused at once, from
// the caller's); there, blocking forms must not be called. What a callback throws ends the process, what an alert throws is lost.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <atone/features/events.hpp>
#include <atone/features/recompute.hpp>
#include <atone/ids.hpp>

namespace atone::features {

// Stored: values are never reused.
enum class version_tag : std::uint8_t { current = 1, to_be_updated = 2 };
std::string_view name(version_tag of) noexcept;  // "current", "to_be_updated"

// What became of a request. Stored: values are never reused.
enum class recompute_outcome : std::uint8_t {
  published = 1,    // computed, and served from now on
  superseded = 2,   // what stands was made from a newer input; nothing was published
  republished = 3,  // undone: the version before stands under a new number
  nothing = 4,      // there was nothing to undo; the recompute is refused if it still comes
};
std::string_view name(recompute_outcome of) noexcept;

// One version of an entity's features, as it was published.
struct feature_version {
  std::uint64_t number = 0;  // rises with each version of the entity; 0: there is none
  std::int64_t input = 0;    // version of what it was made from
  timestamp as_of{};
  timestamp known_at{};
  timestamp published_at{};
  std::optional<timestamp> newest_event;  // that counts in it
  version_tag tag = version_tag::current;
  content_hash set;   // of the feature set
  content_hash hash;  // of `json`
  std::string json;   // as to_json() writes it

  feature_version() = default;
};

// Whose features, from what, and for which step.
struct recompute_request {
  std::string key;     // of the step that wants it, the same at each try; empty: nobody's, nothing is remembered of it
  std::string entity;  // an integer as its text
  // Version of the input: a number that rises with what the entity's features are made from. Nothing: `as_of` in microseconds. Older than
  // what is published is superseded; of one input, the later `as_of` is the newer.
  std::optional<std::int64_t> input;
  timestamp as_of{};
  std::optional<timestamp> known_at;  // nothing: all that is known when the service takes the request
  // Of the version that will be published, where somebody above numbers them; superseded when it is not above the last one. Nothing: the
  // next one. 1 to 2^63 - 1. Numbers are an entity's own, so the store that has its last one can give them without asking anybody.
  std::optional<std::uint64_t> number;
  std::optional<timestamp> deadline;  // not begun later than that, by the service's now()

  recompute_request() = default;
};

// The answer to a request.
struct recompute_answer {
  recompute_outcome outcome = recompute_outcome::published;
  std::string entity;
  feature_version version;  // that was published, or that stands instead; number 0 where there is none

  recompute_answer() = default;
};
// {"entity":"7","outcome":"published","version":3,"input":…,"as_of":…,"known_at":…,"published_at":…,"tag":"current","hash":"…","features":{…}};
// equal answers give equal bytes. `features` is null where there is no version.
std::string to_json(recompute_answer const& of);

// What is served of an entity.
struct served_features {
  feature_version version;
  duration age{};      // since it was published
  bool stale = false;  // marked, or events came that it has not seen, or the set is another now

  served_features() = default;
};

// What became of rows.
struct append_outcome {
  std::size_t taken = 0;
  set_aside left_out;

  append_outcome() = default;
};

// Counters since the service was opened; the last ones are what stands now.
struct feature_figures {
  std::uint64_t recomputes = 0;  // requests answered by a version, new or superseding
  std::uint64_t published = 0, superseded = 0, republished = 0;
  std::uint64_t repeated = 0;     // answered from what was stored under their key
  std::uint64_t coalesced = 0;    // answered by the computation of a newer input in their batch
  std::uint64_t refused = 0;      // undone before, too late, or not computable
  std::uint64_t differences = 0;  // one input that gave other features than before: each is an alert
  std::uint64_t batches = 0, rows_by_cpu = 0, rows_by_gpu = 0;
  std::uint64_t commits = 0;
  std::uint64_t entities = 0, events = 0, stale = 0, log_bytes = 0;
  std::optional<duration> freshness;  // now - newest event in a published version; nothing: there is none yet
  bool writable = false;

  feature_figures() = default;
};

// How a service is set up.
struct feature_service_options {
  std::string folder;                                  // of its log; made where it is missing
  std::function<timestamp()> now;                      // what time it is; needed
  std::function<void(std::string const&)> alert;       // what a person should know, when it changes; may be empty
  duration freshness_max = std::chrono::seconds{300};  // an alert beyond
  // A batch is closed at so many requests (where GPUs compute, at no fewer than recompute.gpu_rows_least),
  std::size_t batch_requests = 256;
  std::size_t batch_rows = 1'000'000;                     // at so many events to walk,
  duration batch_wait = std::chrono::milliseconds{2};     // after so long, and at once when nothing is under way
  std::size_t waiting_max = 100'000;                      // requests; above it errc::exhausted
  std::size_t bytes_waiting = std::size_t{256} << 20;     // to be durable; above it rows are errc::exhausted and recomputes wait
  std::size_t versions_kept = 3;                          // an entity's newest
  duration answers_kept = std::chrono::hours{24 * 7};     // at least so long a key is known; longer than any saga may take
  std::uint64_t rewrite_above = std::uint64_t{64} << 20;  // bytes of the log; then it is written anew each time it has doubled
  duration look_every = std::chrono::seconds{10};         // look_after() by itself; 0: never
  recompute_options recompute;                            // who computes; `now` and `alert` are taken from here
  std::function<int(int descriptor)> sync;                // makes a file or folder durable: 0, or an errno; empty: the kernel's

  feature_service_options() = default;
};

class feature_service {
 public:
  // Reads what the folder holds. Errors: invalid_argument (no clock, no set), conflict (another process has the folder; the columns of its
  // events are others), unavailable (files), corrupt (names file and offset).
  static result<std::unique_ptr<feature_service>> open(feature_set_ptr set, feature_service_options options);
  ~feature_service();  // as stop()
  feature_service(feature_service const&) = delete;
  feature_service& operator=(feature_service const&) = delete;

  feature_set const& set() const noexcept;
  timestamp now() const;  // as its options say

  // Rows come in, all or none; what is known already is passed over. Answers when they are durable. Errors: those of sort_events, also
  // against what is here; exhausted (too many wait); unavailable (the store takes nothing: open it anew), outcome_unknown (just now).
  result<append_outcome> append(event_table const& rows);
  void async_append(event_table const& rows, std::function<void(result<append_outcome>)> then);

  // Answers when it is durable. Errors: invalid_argument (no such entity's name, or one above 1 MiB; a result that overflows; a number
  // that can't be one), conflict (undone before: it is
  // not done any more; the key was used for another entity), unavailable (the deadline has passed: nothing was done), exhausted, and as
  // append().
  result<recompute_answer> recompute(recompute_request what);
  void async_recompute(recompute_request what, std::function<void(result<recompute_answer>)> then);
  // Undoes what was done under the key, at most once. `entity` as in the request. Errors: conflict (the key was used for another entity),
  // and as append().
  result<recompute_answer> republish(std::string key, std::string entity);
  void async_republish(std::string key, std::string entity, std::function<void(result<recompute_answer>)> then);

  // What is durable of an entity. Errors: not_found.
  result<served_features> read(std::string_view entity) const;

  // Recomputes what is stale of everything published, with the input that stands and all events that are there; how many were begun: at
  // most an eighth of `waiting_max`, and none while such ones still wait. Whoever asks for a recompute or an undo comes before them.
  std::size_t catch_up();
  // Freshness against its bound, heartbeats of GPUs. For whoever has a timer; see look_every.
  void look_after();
  // Writes the log anew without what is kept no longer.
  result<void> rewrite();
  feature_figures figures() const;
  std::uint64_t cut_off() const;  // bytes of a write torn by a crash, cut off when the service was opened
  std::string const& path() const;

  // Answers what waits with `unavailable`, finishes what is under way, joins. Idempotent.
  void stop();

 private:
  struct impl;
  explicit feature_service(std::unique_ptr<impl> of);
  std::unique_ptr<impl> impl_;
};

}  // namespace atone::features
