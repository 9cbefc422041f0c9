// Events in a file without a name, found again by their saga: a dump has them in the order in which they were stored.
// Thread rules: one thread.
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <atone/ids.hpp>
#include <atone/result.hpp>

namespace atone::dump {

class event_index {
 public:
  // A file in `folder` that is gone when this is. Errors: unavailable.
  static result<event_index> open(std::string const& folder);

  // Errors: unavailable (no room, say).
  result<void> add(saga_id saga, sequence seq, std::string_view text);
  // After the last add(), before what comes below.
  result<void> finish();
  // The first saga of which something was added and that is not `known`; nothing: all are.
  std::optional<saga_id> find_stranger(std::function<bool(saga_id)> const& known) const;
  // What was added for the saga, by rising sequence. Errors: unavailable.
  result<std::vector<std::string>> texts_of(saga_id saga) const;

 private:
  struct close_file {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  struct place {
    saga_id saga;
    std::uint64_t offset = 0;
    std::uint32_t size = 0;
    std::uint32_t seq = 0;
  };
  static_assert(sizeof(place) == 32, "what a dump costs in memory, an event");

  event_index() = default;
  error failed(char const* what) const;

  std::string folder_;
  std::unique_ptr<std::FILE, close_file> file_;
  std::uint64_t end_ = 0;
  std::vector<place> places_;
};

}  // namespace atone::dump
