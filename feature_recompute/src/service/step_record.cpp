#include "service/step_record.hpp"

#include <algorithm>

#include <atone/json.hpp>

#include "service/bytes.hpp"

namespace atone::features {
namespace {

void put_time(std::string& out, timestamp at) {
  put(out, at.time_since_epoch().count());
}

timestamp read_time(byte_reader& from) {
  return timestamp{duration{from.number<std::int64_t>()}};
}

void put_optional(std::string& out, std::optional<timestamp> at) {
  put(out, static_cast<std::uint8_t>(at ? 1 : 0));
  put_time(out, at.value_or(timestamp{}));
}

std::optional<timestamp> read_optional(byte_reader& from) {
  bool const is_there = from.number<std::uint8_t>() != 0;
  auto const at = read_time(from);
  return is_there ? std::optional{at} : std::nullopt;
}

void put_hash(std::string& out, content_hash const& of) {
  out.append(of.value().begin(), of.value().end());
}

content_hash read_hash(byte_reader& from) {
  content_hash::bytes bytes{};
  auto const found = from.take(bytes.size());
  std::copy(found.begin(), found.end(), bytes.begin());
  return content_hash{bytes};
}

void put_version(std::string& out, feature_version const& of) {
  put(out, of.number);
  put(out, of.input);
  put_time(out, of.as_of);
  put_time(out, of.known_at);
  put_time(out, of.published_at);
  put_optional(out, of.newest_event);
  put(out, static_cast<std::uint8_t>(of.tag));
  put_hash(out, of.set);
  put_hash(out, of.hash);
  put_text(out, of.json);
}

feature_version read_version(byte_reader& from) {
  feature_version made;
  made.number = from.number<std::uint64_t>();
  made.input = from.number<std::int64_t>();
  made.as_of = read_time(from);
  made.known_at = read_time(from);
  made.published_at = read_time(from);
  made.newest_event = read_optional(from);
  made.tag = static_cast<version_tag>(from.number<std::uint8_t>());
  made.set = read_hash(from);
  made.hash = read_hash(from);
  made.json = from.text();
  return made;
}

}  // namespace

std::string_view name(version_tag of) noexcept {
  return of == version_tag::current ? "current" : "to_be_updated";
}

std::string_view name(recompute_outcome of) noexcept {
  switch (of) {
    case recompute_outcome::published: return "published";
    case recompute_outcome::superseded: return "superseded";
    case recompute_outcome::republished: return "republished";
    case recompute_outcome::nothing: return "nothing";
  }
  return "unknown";
}

std::string to_json(recompute_answer const& of) {
  auto const& version = of.version;
  json::writer out;
  out.begin_object().key("entity").string(of.entity).key("outcome").string(name(of.outcome)).key("version").number(version.number);
  if (version.number == 0) return out.key("features").null().end_object().take();
  out.key("input").number(version.input).key("as_of").string(format_timestamp(version.as_of));
  out.key("known_at").string(format_timestamp(version.known_at)).key("published_at").string(format_timestamp(version.published_at));
  out.key("tag").string(name(version.tag)).key("hash").string(version.hash.text()).key("features").raw(version.json).end_object();
  return out.take();
}

std::string bytes_of(step_record const& of) {
  std::string out;
  put(out, static_cast<std::uint8_t>(of.outcome));
  put_text(out, of.key);
  put_text(out, of.origin);
  put_text(out, of.entity);
  put_time(out, of.answered_at);
  put(out, of.rows_seen);
  put(out, of.rows_known);
  put_optional(out, of.next_known);
  put_version(out, of.version);
  return out;
}

result<step_record> read_record(std::string_view bytes) {
  byte_reader from{bytes};
  step_record made;
  made.outcome = static_cast<recompute_outcome>(from.number<std::uint8_t>());
  made.key = from.text();
  made.origin = from.text();
  made.entity = from.text();
  made.answered_at = read_time(from);
  made.rows_seen = from.number<std::uint64_t>();
  made.rows_known = from.number<std::uint64_t>();
  made.next_known = read_optional(from);
  made.version = read_version(from);
  bool const known = made.outcome >= recompute_outcome::published && made.outcome <= recompute_outcome::nothing &&
                     (made.version.tag == version_tag::current || made.version.tag == version_tag::to_be_updated);
  if (from.good() && from.at_end() && known) return made;
  return error{errc::corrupt, "a record of a version can't be read: it is of a later Atone, or damaged"};
}

}  // namespace atone::features
