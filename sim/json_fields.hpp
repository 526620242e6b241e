// Reading one JSON object key by key: each question notes that the key is known, says what is wrong with its
// value, and at the end whatever was never asked for is an unknown key, with the nearest known one suggested.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/json_source.hpp"
#include "sim/scenario.hpp"
#include "sim/spelling.hpp"

namespace halfopen::sim {

enum class Need : std::uint8_t { optional, required };

struct NumberRange {
  double min = 0, max = 0;
  bool above_min = false;  // min itself is outside
  std::string text() const;
};

inline constexpr NumberRange RATIO{0, 1, false};

// Places within the run and lengths of it, stated in ms.
struct TimeRange {
  Nanos min = 0;
  Nanos max = 10'000'000'000 * NANOS_PER_MS;  // 10^10 ms
};
inline constexpr TimeRange ANY_TIME{};
inline constexpr TimeRange POSITIVE_TIME{1};

class Fields {
 public:
  // `noun` says what the object should be: "an upstream". Tells if `value` is no object; then every question
  // finds nothing and is silent.
  Fields(const Json& value, std::string pointer, std::vector<Finding>& findings, std::string_view noun);

  bool is_object() const { return object_ != nullptr; }
  const std::string& pointer() const { return pointer_; }
  std::string at(std::string_view name) const { return join(pointer_, name); }
  std::vector<Finding>& findings() const { return findings_; }

  // The value, or null. `required` tells of an absence.
  const Json* get(std::string_view name, Need need = Need::optional);
  bool has(std::string_view name) { return get(name) != nullptr; }

  // Absent or wrong: nothing. Wrong has been told.
  std::optional<double> number(std::string_view name, const NumberRange& range, Need need = Need::optional);
  std::optional<std::uint64_t> whole(std::string_view name, std::uint64_t min, std::uint64_t max,
                                     Need need = Need::optional);
  std::optional<std::int64_t> integer(std::string_view name, std::int64_t min, std::int64_t max,
                                      Need need = Need::optional);
  std::optional<Nanos> time(std::string_view name, const TimeRange& range, Need need = Need::optional);
  std::optional<std::string> text(std::string_view name, Need need = Need::optional);
  std::optional<bool> flag(std::string_view name);
  const Json* list(std::string_view name, Need need = Need::optional);
  const Json* object(std::string_view name, Need need = Need::optional);
  // The place of the word in `words`.
  std::optional<std::size_t> word(std::string_view name, const std::vector<std::string_view>& words,
                                  Need need = Need::optional);

  // "name is <value>: it must be …" at the value of a key.
  void wrong(std::string_view name, std::string_view rule);
  void tell(std::string_view name, std::string what);  // at the value of a key
  void tell_here(std::string what);                    // at the object
  void unsupported(std::string_view name);             // tells if the key is there

  // How many of these keys are there, the first of them in `found`.
  std::size_t count_of(const std::vector<std::string_view>& names, std::string_view& found);

  void finish();  // tells of every key that nobody asked for

 private:
  const Json* object_ = nullptr;
  std::string pointer_;
  std::vector<Finding>& findings_;
  std::string noun_;
  std::vector<std::string_view> known_;  // literals and table names: they live as long as the program
};

// A few characters of a value for a message: the value if it is short, its kind if it is a list or an object.
std::string shown(const Json& value);

// Whether a number has no fractional part and lies in [min, max].
bool whole_number(const Json& value, std::uint64_t min, std::uint64_t max, std::uint64_t& out);
// A time in ms to the nearest ns; false if it is no number in [range.min, range.max].
bool time_of(const Json& value, const TimeRange& range, Nanos& out);
bool number_in(const Json& value, const NumberRange& range, double& out);
std::string rule_of(const TimeRange& range);

}  // namespace halfopen::sim
