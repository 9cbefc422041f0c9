// A value while an expression runs. JSON that came in stays as it came (`json::value`) until an operator needs more of it,
// so that what is only passed on keeps its bytes. NaN and infinity never occur: where IEEE would give them, we give an error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <atone/expression.hpp>

namespace atone::expr {

// How to calculate with a JSON number: as its text says (1 is an integer, 1.0 a double), or as its schema declares.
enum class number_hint : std::uint8_t { by_text, integer, floating };

class datum {
 public:
  using list = std::vector<datum>;
  using map = std::vector<std::pair<std::string, datum>>;  // in the order written; keys are unique
  struct carried {
    json::value value;
    number_hint hint = number_hint::by_text;
  };

  datum() = default;  // null
  explicit datum(bool value) : held_(value) {}
  explicit datum(std::int64_t value) : held_(value) {}
  explicit datum(std::uint64_t value) : held_(value) {}
  explicit datum(double value) : held_(value) {}
  explicit datum(std::string text) : held_(std::make_shared<std::string const>(std::move(text))) {}
  explicit datum(list items) : held_(std::make_shared<list const>(std::move(items))) {}
  explicit datum(map members) : held_(std::make_shared<map const>(std::move(members))) {}
  explicit datum(json::value value, number_hint hint = number_hint::by_text) : held_(carried{std::move(value), hint}) {}

  // `floating` for a number too large for every type, as 1E400: told apart by is_huge().
  type_kind kind() const;
  bool is_huge() const;
  bool is_number() const;

  template <class T>
  T const* get() const noexcept {
    return std::get_if<T>(&held_);
  }
  std::string const* text() const noexcept;  // of a string built here
  list const* items() const noexcept;        // of a list built here
  map const* members() const noexcept;       // of a map built here
  json::value const* json() const noexcept;  // of what came from outside
  number_hint hint() const noexcept;

  std::size_t size() const;  // elements of a list, members of a map
  // How many bytes plain() has to read: those of a string or number from JSON.
  std::size_t plain_cost() const noexcept;

  // Scalars from JSON turned into ours; lists, maps and huge numbers stay.
  datum plain(bool use_hint) const;

  // Of a list: the element, which must exist. Of a map: nothing when there is no such key.
  datum at(std::size_t index) const;
  std::optional<datum> find(std::string_view key) const;
  std::vector<datum> elements() const;    // of a list
  std::vector<std::string> keys() const;  // of a map

 private:
  std::variant<std::nullptr_t, bool, std::int64_t, std::uint64_t, double, std::shared_ptr<std::string const>, std::shared_ptr<list const>,
               std::shared_ptr<map const>, carried>
      held_ = nullptr;
};

// "integer", "list" … for messages.
std::string_view type_name(type_kind kind) noexcept;

}  // namespace atone::expr
