// Counts the words of 16 bits in a file that all ranks read together.
//
// Each rank reads one part of the file. The 65536 counters are a distributed array, and one call
// adds the words of the rank to counters on all ranks. Long files need several calls.
//
//     LONGSHORE_RANKS=4 histogram FILE        mpirun -n 4 histogram FILE
//
// Without FILE the program counts its own binary.
#include <longshore/longshore.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <vector>

namespace {

constexpr std::uint64_t words_at_a_time = 1 << 20;

// The words from `begin` to `end` - 1 of the file, little-endian.
std::vector<std::int64_t> read_words(std::ifstream& file, std::uint64_t begin, std::uint64_t end) {
  std::vector<unsigned char> bytes(2 * (end - begin));
  file.seekg(static_cast<std::streamoff>(2 * begin));
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  std::vector<std::int64_t> words(end - begin);
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = bytes[2 * i] + 256 * bytes[2 * i + 1];
  return words;
}

}  // namespace

int main(int argc, char** argv) {
  const std::filesystem::path path = argc > 1 ? argv[1] : argv[0];
  longshore::run(argc, argv, [&](longshore::team& team) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw std::runtime_error("histogram: cannot read " + path.string());
    const std::uint64_t words = std::filesystem::file_size(path) / 2;
    const auto ranks = static_cast<std::uint64_t>(team.size()),
               rank = static_cast<std::uint64_t>(team.rank());
    const std::uint64_t begin = words * rank / ranks, end = words * (rank + 1) / ranks;

    longshore::dist_array<std::int64_t> counts(team, 1 << 16);
    longshore::update_plan count(counts, longshore::op::add{});
    team.barrier();  // All counters are 0 before any rank counts.
    // Updates are collective: at the end, a rank without further words calls with no words.
    for (std::uint64_t first = 0; first < words / ranks + 1; first += words_at_a_time)
      count(read_words(file, std::min(begin + first, end),
                       std::min(begin + first + words_at_a_time, end)),
            1);
    team.barrier();

    const auto part = counts.local();
    std::array<std::int64_t, 1> total{};
    for (const auto n : part) total[0] += n;
    team.allreduce(std::span<std::int64_t>(total), longshore::reduction::sum);
    const std::int64_t most = team.allreduce_value(
        part.empty() ? 0 : *std::ranges::max_element(part), longshore::reduction::max);
    const bool right = total[0] == static_cast<std::int64_t>(words);
    if (team.rank() == 0)
      std::printf("histogram: ranks=%d words=%lld most_of_one=%lld verified=%s\n", team.size(),
                  static_cast<long long>(total[0]), static_cast<long long>(most),
                  right ? "yes" : "no");
    if (!right) throw std::runtime_error("histogram: not every word was counted");
  });
}
