// Runs a fuzz target without libFuzzer, so that the everyday build with its sanitizers can: first every file of the
// folders named, then mutants of them, always the same ones. It does not look for new paths through the code; the
// preset `fuzz` does.
//
//   step_fuzz_replay MUTANTS FOLDER…
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "core/random.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

namespace fs = std::filesystem;

constexpr std::size_t LONGEST = 16384;  // longer inputs cost time and find little

std::vector<std::string> inputs_in(const std::vector<std::string>& folders) {
  std::vector<fs::path> paths;
  for (const std::string& folder : folders) {
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.is_regular_file()) paths.push_back(entry.path());
    }
  }
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> out;
  for (const fs::path& path : paths) {
    std::ifstream in(path, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(in), {}};
    if (text.size() <= 4 * LONGEST) out.push_back(std::move(text));
  }
  return out;
}

// The n-th draw of a mutant, below `limit`.
class Dice {
 public:
  explicit Dice(std::uint64_t mutant) : mutant_(mutant) {}
  std::size_t below(std::size_t limit) {
    const auto word = halfopen::philox_word0(mutant_, next_++, 0, 0, 1, 2);
    return static_cast<std::size_t>(word % std::max<std::size_t>(limit, 1));
  }

 private:
  std::uint64_t mutant_, next_ = 0;
};

// Cut out, doubled, put in from another input, one byte changed, or a digit replaced by an awkward number.
void mutate(std::string& text, const std::vector<std::string>& others, Dice& dice) {
  static const std::vector<std::string> AWKWARD{"-1",   "0",    "1e999", "18446744073709551616", "null", "\"\"",
                                                "[[[[", "}}",   "\xff",  "\\u0000",              "*",    "&a",
                                                "1e-9", "0.5",  "true",  "- ",                   ": ",   "\n\n"};
  const std::size_t from = dice.below(text.size() + 1);
  const std::size_t length = 1 + dice.below(std::min<std::size_t>(64, text.size() - from + 1));
  switch (dice.below(5)) {
    case 0: text.erase(from, length); break;
    case 1: text.insert(from, text.substr(from, length)); break;
    case 2: {
      const std::string& other = others[dice.below(others.size())];
      text.insert(from, other.substr(dice.below(other.size() + 1), length));
      break;
    }
    case 3:
      if (from < text.size()) text[from] = static_cast<char>(dice.below(256));
      break;
    default: {
      const std::size_t digit = std::min(text.find_first_of("0123456789", from), text.size());
      text.replace(digit, digit < text.size() ? 1 : 0, AWKWARD[dice.below(AWKWARD.size())]);
    }
  }
  if (text.size() > LONGEST) text.resize(LONGEST);
}

void run(const std::string& text) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> folders(argv + std::min(argc, 2), argv + argc);
  const std::vector<std::string> inputs = inputs_in(folders);
  if (argc < 3 || inputs.empty()) {
    std::fputs("usage: REPLAY MUTANTS FOLDER..., and the folders must hold inputs\n", stderr);
    return 2;
  }
  for (const std::string& input : inputs) run(input);
  const auto mutants = std::strtoull(argv[1], nullptr, 10);
  for (std::uint64_t n = 0; n < mutants; ++n) {
    Dice dice(n);
    std::string text = inputs[dice.below(inputs.size())];
    for (std::size_t changes = 1 + dice.below(4); changes > 0; --changes) mutate(text, inputs, dice);
    run(text);
  }
  std::printf("%zu inputs and %llu mutants\n", inputs.size(), mutants);
  return 0;
}
