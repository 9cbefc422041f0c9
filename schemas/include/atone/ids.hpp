// The ids all parts speak, each a type of its own, so that a shard is never passed as an epoch.
// Thread rules: plain values. Making new ids needs a source of them: environment.hpp.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace atone {

// A number or text with a meaning of its own; Tag keeps different meanings apart.
template <class Tag, class Rep>
class strong {
 public:
  using representation = Rep;
  strong() = default;
  explicit strong(Rep value) : value_(std::move(value)) {}
  Rep const& value() const noexcept { return value_; }
  friend auto operator<=>(strong const&, strong const&) = default;
  friend bool operator==(strong const&, strong const&) = default;

 private:
  Rep value_{};
};

// Virtual shard a saga lives in, 0 … shards of the store - 1.
using shard = strong<struct shard_tag, std::uint16_t>;
// Which ownership of the store a writer has; rises at each take-over. 0: none.
using epoch = strong<struct epoch_tag, std::uint64_t>;
// Number of a batch a writer commits under one epoch, from 1 without gaps.
using batch_number = strong<struct batch_number_tag, std::uint64_t>;
// Number of an event within its saga, from 1 without gaps. 0: none.
using sequence = strong<struct sequence_tag, std::uint32_t>;
// Which try of one operation of one step, from 1.
using attempt = strong<struct attempt_tag, std::uint32_t>;
// Version of a definition, from 1.
using definition_version = strong<struct definition_version_tag, std::uint32_t>;
// What the caller names a saga by (order number …), unique within the saga's name. Empty: none given.
using business_key = strong<struct business_key_tag, std::string>;
// Which process writes ("node-1"); it keeps its name over restarts.
using node_id = strong<struct node_id_tag, std::string>;

// Identifies one saga: 128 bits, time-ordered (48 bits of milliseconds first), written as 26 characters of
// Crockford base 32, upper case ("01JDZ4M6GQ5V7Y8N2W3X4R5T6K"). Text order is creation order.
class saga_id {
 public:
  static constexpr std::size_t text_size = 26;
  using bytes = std::array<std::uint8_t, 16>;

  saga_id() = default;  // all zero: no saga, see empty()
  explicit saga_id(bytes value) noexcept : bytes_(value) {}
  // Reads the 26 characters, lower case accepted; nothing when it is not an id.
  static std::optional<saga_id> parse(std::string_view text) noexcept;

  std::string text() const;
  std::array<char, text_size> characters() const noexcept;  // of text(), without making one
  bytes const& value() const noexcept { return bytes_; }
  bool empty() const noexcept { return bytes_ == bytes{}; }
  friend auto operator<=>(saga_id const&, saga_id const&) = default;
  friend bool operator==(saga_id const&, saga_id const&) = default;

 private:
  bytes bytes_{};
};

// SHA-256 of canonical bytes: binds a saga to the definition it was started with, a key to the body it came with.
class content_hash {
 public:
  using bytes = std::array<std::uint8_t, 32>;

  content_hash() = default;
  explicit content_hash(bytes value) noexcept : bytes_(value) {}
  static content_hash of(std::string_view content);
  static std::optional<content_hash> parse(std::string_view hex) noexcept;  // what text() gives; upper case is nothing

  std::string text() const;  // 64 hex digits
  bytes const& value() const noexcept { return bytes_; }
  friend auto operator<=>(content_hash const&, content_hash const&) = default;
  friend bool operator==(content_hash const&, content_hash const&) = default;

 private:
  bytes bytes_{};
};

// Where a step stands in its saga: ids joined by '/', a branch's name among them ("fan/profile/tag").
// It is the step's identity in the journal, in keys, in the barrier and in drawings.
class step_path {
 public:
  static constexpr std::size_t size_max = 512;  // bytes; not checked here: a store refuses a longer one as bad_data

  step_path() = default;  // empty: the saga itself
  explicit step_path(std::string text) : text_(std::move(text)) {}

  // The path of step or branch `id` inside this one.
  step_path child(std::string_view id) const { return step_path{text_.empty() ? std::string{id} : text_ + '/' + std::string{id}}; }
  std::string const& text() const noexcept { return text_; }
  bool empty() const noexcept { return text_.empty(); }
  friend auto operator<=>(step_path const&, step_path const&) = default;
  friend bool operator==(step_path const&, step_path const&) = default;

 private:
  std::string text_;
};

// What a participant is asked to do. Stored: values are never reused.
enum class operation : std::int16_t {
  none = 0,
  act = 1,         // "do": the step's own action
  compensate = 2,  // undo it
  try_ = 3,        // TCC: reserve
  confirm = 4,     // TCC
  cancel = 5,      // TCC
  prepare = 6,     // two-phase commit: vote
  commit = 7,
  abort = 8,
  fallback = 9,  // the call that stands in for a step's output
};

// The word on the wire and in SQL: "do", "compensate", "try" …
std::string_view name(operation op) noexcept;
std::optional<operation> parse_operation(std::string_view text) noexcept;  // nothing: no such word; "none" is one

// 32 hex digits (the first half of SHA-256 over saga, step and operation): names one operation of one step of one
// saga, the same for every attempt. Key of the compensation log, and what a participant gets as Idempotency-Key.
class trace_id {
 public:
  trace_id() = default;
  static trace_id of(saga_id saga, step_path const& step, operation op);
  std::string const& text() const noexcept { return text_; }
  friend bool operator==(trace_id const&, trace_id const&) = default;
  friend auto operator<=>(trace_id const&, trace_id const&) = default;

 private:
  explicit trace_id(std::string text) : text_(std::move(text)) {}
  std::string text_;
};

}  // namespace atone

// So that ids can be keys of unordered containers.
template <class Tag, class Rep>
struct std::hash<atone::strong<Tag, Rep>> {
  std::size_t operator()(atone::strong<Tag, Rep> const& id) const noexcept { return std::hash<Rep>{}(id.value()); }
};

// Takes the id's random part. Not against an adversary who chooses ids.
template <>
struct std::hash<atone::saga_id> {
  std::size_t operator()(atone::saga_id const& id) const noexcept {
    // The tail is random: eight bytes of it are hash enough.
    std::uint64_t tail = 0;
    for (std::size_t at = 8; at < 16; ++at) tail = tail << 8 | id.value()[at];
    return static_cast<std::size_t>(tail);
  }
};

// The hash of its text.
template <>
struct std::hash<atone::step_path> {
  std::size_t operator()(atone::step_path const& path) const noexcept { return std::hash<std::string>{}(path.text()); }
};
