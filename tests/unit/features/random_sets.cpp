#include "random_sets.hpp"

#include <algorithm>
#include <limits>

namespace atone::features_test {

using namespace features;

namespace {

constexpr std::int64_t second = 1'000'000;

class drawing {
 public:
  drawing(std::mt19937_64& random, std::size_t rows_most) : random_(random), rows_most_(rows_most) {}

  random_case run() {
    random_case made;
    text_keys_ = chance(3);
    known_ = chance(2);
    scale_ = static_cast<int>(below(10));
    made.yaml = head();
    made.yaml += windows();
    made.yaml += features();
    made.set = set_of(made.yaml);
    if (made.set) made.rows = rows();
    return made;
  }

 private:
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
  bool chance(std::uint64_t in) { return below(in) == 0; }
  std::string one_of(std::vector<std::string> const& words) { return words[below(words.size())]; }

  std::string head() {
    std::string const key = text_keys_ ? "text" : "integer";
    auto text = "feature_set: drawn\nversion: 1\nentity: user\nevent_id: id\nevent_time: at\n" +
                std::string{known_ ? "known_at: known\n" : ""} + "columns:\n  user: " + key + "\n  id: " + key +
                "\n  at: timestamp\n  known: timestamp\n  amount: {type: decimal, scale: " + std::to_string(scale_) +
                "}\n  quantity: integer\n  product: text\n  seen: timestamp\n";
    if (known_ && chance(3)) text += "late: {after: 4s, then: set_aside}\n";
    return text;
  }

  std::string windows() {
    std::vector<std::string> const kinds{"{last: 1s}", "{last: 3s}", "{last: 3000001us}", "{last: 10s}",   "{last: 9d}",
                                         "{rows: 1}",  "{rows: 3}",  "{rows: 20}",        "{since: epoch}"};
    std::string text = "windows:\n";
    auto const size = 1 + below(5);
    for (std::size_t at = 0; at < size; ++at) {
      names_.push_back("w" + std::to_string(at));
      text += "  " + names_.back() + ": " + one_of(kinds) + "\n";
    }
    return text;
  }

  std::string over() {
    auto chosen = names_;
    std::shuffle(chosen.begin(), chosen.end(), random_);
    chosen.resize(1 + below(chosen.size()));
    std::string text;
    for (auto const& one : chosen) text += (text.empty() ? "" : ", ") + one;
    return ", over: [" + text + "]";
  }

  std::string where() {
    if (!chance(3)) return "";
    auto text =
        ", where: {" + one_of({"product: a", "product: [a, c]", "quantity: {at_least: 2}", "quantity: [1, 3, 5]", "amount: {above: 0}",
                               "amount: {at_most: 3, above: -2}", "at: {below: 1970-01-01T00:00:07Z}", "product: unheard-of"});
    if (chance(3)) text += ", seen: {at_least: 1970-01-01T00:00:01Z}";
    return text + "}";
  }

  std::string per() { return chance(5) ? ", per: " + one_of({"{product: [a, b, never]}", "{quantity: [1, 2]}"}) : ""; }

  std::string kind() {
    std::string const half_life = ", half_life: " + one_of({"1s", "3s", "1d", "7us", "1us", "64us", "3653d"});
    std::string const estimate = one_of({"", ", estimate: sample", ", estimate: population"});
    std::string const number = one_of({"amount", "quantity"});
    std::string const anything = one_of({"amount", "quantity", "product", "seen", "id", "at"});
    switch (below(16)) {
      case 0: return "count: events";
      case 1: return "count: " + anything;
      case 2: return "sum: " + number;
      case 3: return "mean: " + number;
      case 4: return "min: " + one_of({"amount", "quantity", "seen"});
      case 5: return "max: " + one_of({"amount", "quantity", "at"});
      case 6: return "variance: " + number + estimate;
      case 7: return "deviation: " + number + estimate;
      case 8: return "distinct: " + anything;
      case 9: return "first: " + anything;
      case 10: return "last: " + anything;
      case 11: return "last_values: " + anything + ", keep: " + std::to_string(1 + below(6));
      case 12: return "recency: events";
      case 13: return "interval: " + one_of({"mean", "min"});
      case 14: return "decayed_count: events" + half_life;
      default: return "decayed_sum: " + number + half_life;
    }
  }

  std::string features() {
    std::string text = "features:\n";
    auto const size = 1 + below(12);
    for (std::size_t at = 0; at < size; ++at) {
      text += "  f" + std::to_string(at) + ": {" + kind();
      text += over();
      text += where();
      text += per() + "}\n";
    }
    if (names_.size() > 1) {
      text += "  base: {" + one_of({"count: events", "sum: amount", "sum: quantity", "distinct: product"}) + ", over: [" + names_[0] +
              ", " + names_[1] + "]" + where() + "}\n  trend: {ratio: base, between: [" + names_[1] + ", " + names_[0] + "]}\n";
      text += "  back: {ratio: base, between: [" + names_[0] + ", " + names_[1] + "]}\n";
    }
    return text;
  }

  raw_value key(std::uint64_t of) {
    if (!text_keys_) return static_cast<std::int64_t>(of) - 2;
    return "k" + std::to_string(of);
  }

  std::int64_t amount() {
    using limits = std::numeric_limits<std::int64_t>;
    if (wild_ && chance(4)) return chance(2) ? limits::max() : limits::min();
    if (wild_ && chance(3)) return static_cast<std::int64_t>(random_());
    return static_cast<std::int64_t>(below(20)) - 6;
  }

  raw_value or_null(raw_value value) { return chance(9) ? raw_value{} : std::move(value); }

  raw_row row(std::uint64_t id) {
    auto const time = draw_time(random_);
    auto const known = time + static_cast<std::int64_t>(below(3)) * 3 * second;
    return {chance(40) ? raw_value{} : key(below(3)),
            chance(40) ? raw_value{} : key(id),
            chance(40) ? raw_value{} : raw_value{time},
            or_null(known),
            or_null(amount()),
            or_null(static_cast<std::int64_t>(below(6))),
            or_null(one_of({"a", "b", "c", "dd", ""})),
            or_null(draw_time(random_))};
  }

  // Ids are drawn once each; then rows come again: as they were, or, where known_at is, corrected and known later.
  raw_rows rows() {
    wild_ = chance(4);
    raw_rows all;
    auto const size = below(rows_most_ + 1);
    for (std::uint64_t id = 0; id < size; ++id) all.push_back(row(id));
    for (std::size_t at = 0; at < size; ++at) {
      if (chance(4)) all.push_back(raw_row{all[at]});
      if (known_ && chance(4)) {
        auto later = row(0);
        later[0] = all[at][0];
        later[1] = all[at][1];
        later[3] = (1000 + static_cast<std::int64_t>(at)) * second / 100 + 7;  // no two versions at once
        all.push_back(std::move(later));
      }
    }
    std::shuffle(all.begin(), all.end(), random_);
    return all;
  }

  std::mt19937_64& random_;
  std::size_t rows_most_;
  bool text_keys_ = false;
  bool known_ = false;
  bool wild_ = false;
  int scale_ = 0;
  std::vector<std::string> names_;
};

}  // namespace

std::int64_t draw_time(std::mt19937_64& random) {
  return static_cast<std::int64_t>(random() % 14) * second + static_cast<std::int64_t>(random() % 3) - 1;
}

random_case draw_case(std::mt19937_64& random, std::size_t rows_most) {
  return drawing{random, rows_most}.run();
}

}  // namespace atone::features_test
