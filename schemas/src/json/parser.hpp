// Turns one text into a tape, or says where and why not.
#pragma once

#include <atone/json.hpp>

#include "document.hpp"

namespace atone::json {

class parser {
 public:
  parser(std::string_view text, limits const& bounds) : text_(text), bounds_(bounds) {}

  // False: failure() says why.
  bool run();
  std::vector<node> take() { return std::move(nodes_); }
  error const& failure() const noexcept { return failure_; }

 private:
  bool fail(std::size_t at, std::string what, errc code = errc::invalid_argument);
  bool unexpected(std::string_view expected);
  std::string found_here() const;
  bool check_text();
  void skip_space() noexcept;
  bool next_is(char wanted) const noexcept { return at_ < text_.size() && text_[at_] == wanted; }

  bool value();
  bool open(kind of);
  bool after_value(bool& finished);
  bool close();
  bool key();
  bool unique_keys(std::uint32_t object);
  bool literal(std::string_view word, kind of, bool truth);
  bool number();
  bool digits(std::string_view where);
  bool string();
  bool escape();
  bool unicode_escape(std::size_t from);
  bool four_digits(std::uint32_t& code, std::size_t from);
  bool add(kind of, std::size_t begin);

  std::string_view text_;
  limits const& bounds_;
  std::size_t at_ = 0;
  std::size_t values_ = 0;
  std::vector<node> nodes_;
  std::vector<std::uint32_t> open_;  // nodes of the arrays and objects around
  error failure_;
};

}  // namespace atone::json
