// Asks the kernel which pages back a range of memory: sizes from /proc/self/smaps, resident pages
// from /proc/self/pagemap, and the NUMA nodes of a sample of pages from move_pages.
#include <longshore/machine/page_facts.hpp>

#include <longshore/core/bytes.hpp>
#include <longshore/core/random.hpp>
#include <longshore/machine/pages.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

namespace longshore {
namespace {

// Resident bytes in [begin, end), in whole pages. /proc/self/pagemap has one word per page, whose
// highest bit is set if the page has memory. Reading this bit needs no privileges.
std::optional<std::size_t> resident_bytes_in(std::uintptr_t begin, std::uintptr_t end) {
  constexpr std::size_t words_at_once = std::size_t{1} << 15;
  const std::size_t page = page_bytes();
  const int file = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  std::vector<std::uint64_t> words(words_at_once);
  std::size_t resident_pages = 0;
  bool complete = true;
  for (std::uintptr_t at = begin / page, last = (end + page - 1) / page; at < last && complete;) {
    const std::size_t wanted = std::min<std::size_t>(words.size(), last - at);
    const ssize_t got = pread(file, words.data(), wanted * sizeof(words[0]),
                              static_cast<off_t>(at * sizeof(words[0])));
    const std::size_t count = got > 0 ? static_cast<std::size_t>(got) / sizeof(words[0]) : 0;
    resident_pages += static_cast<std::size_t>(
        std::count_if(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(count),
                      [](std::uint64_t word) { return word >> 63 != 0; }));
    complete = count > 0;
    at += count;
  }
  close(file);
  if (!complete) return std::nullopt;
  return resident_pages * page;
}

// bytes * part / whole, rounded up to whole pages.
std::size_t proportion(std::size_t bytes, std::size_t part, std::size_t whole) {
  if (whole == 0 || part >= whole) return bytes;
  const double exact =
      static_cast<double>(bytes) * static_cast<double>(part) / static_cast<double>(whole);
  return round_up(static_cast<std::size_t>(exact), page_bytes());
}

// The sum is unknown if one of the two is unknown.
void add(std::optional<std::size_t>& sum, std::optional<std::size_t> bytes) {
  if (sum && bytes)
    *sum += *bytes;
  else
    sum.reset();
}

// Adds the part of one mapping that lies in [begin, end), at least a page.
void add_page_counts(page_facts& facts, const detail::mapping& mapping, std::uintptr_t begin,
                     std::uintptr_t end) {
  const std::uintptr_t from = std::max(begin, mapping.begin), to = std::min(end, mapping.end);
  const bool whole = from == mapping.begin && to == mapping.end;
  const auto resident = whole ? mapping.resident : resident_bytes_in(from, to);
  add(facts.resident_bytes, resident);
  if (whole || !resident || !mapping.resident) {
    add(facts.transparent_huge_bytes, whole ? mapping.transparent_huge : std::nullopt);
    add(facts.explicit_huge_bytes, whole ? mapping.explicit_huge : std::nullopt);
    return;
  }
  facts.proportioned = true;
  const auto part_of = [&](std::optional<std::size_t> bytes) {
    return bytes ? std::optional(
                       std::min(proportion(*bytes, *resident, *mapping.resident), *resident))
                 : std::nullopt;
  };
  add(facts.transparent_huge_bytes, part_of(mapping.transparent_huge));
  add(facts.explicit_huge_bytes, part_of(mapping.explicit_huge));
}

// Samples the nodes of pages as inspect_pages describes. The random pages are the same in every
// run.
void sample_nodes(page_facts& facts, std::uintptr_t begin, std::uintptr_t end,
                  std::size_t max_samples) {
  const std::size_t page = page_bytes(), count = (end - begin) / page,
                    samples = std::min(count, max_samples);
  facts.pages_in_range = count;
  if (samples == 0) return;
  random_stream random(count);
  std::vector<void*> addresses(samples);
  for (std::size_t i = 0; i < samples; ++i) {
    const std::size_t first = i * count / samples, next = (i + 1) * count / samples;
    addresses[i] = reinterpret_cast<void*>(begin + (first + random.below(next - first)) * page);
  }
  const auto nodes = numa_nodes_of_pages(addresses);
  if (!nodes) return;
  facts.pages_sampled = samples;
  std::map<int, std::size_t> samples_on_node;
  std::size_t placed = 0;
  for (const int node : *nodes)
    if (node >= 0) ++samples_on_node[node], ++placed;
  // If the resident bytes are known, each sample stands for an equal share of them. Otherwise each
  // sample stands for its stride.
  const double bytes_per_sample =
      facts.resident_bytes && placed > 0
          ? static_cast<double>(*facts.resident_bytes) / static_cast<double>(placed)
          : static_cast<double>(count * page) / static_cast<double>(samples);
  facts.nodes.emplace();
  for (const auto& [node, on_node] : samples_on_node)
    facts.nodes->push_back(
        {node, static_cast<std::size_t>(static_cast<double>(on_node) * bytes_per_sample)});
}

}  // namespace

namespace detail {

std::vector<mapping> mappings_in(std::string_view smaps, std::uintptr_t begin, std::uintptr_t end) {
  std::vector<mapping> mappings;
  bool inside = false;
  for (std::size_t at = 0; at < smaps.size();) {
    const std::string_view line = smaps.substr(at, smaps.find('\n', at) - at);
    at += line.size() + 1;
    // A mapping begins with a line "begin-end rwxp ..." in lower-case hexadecimal. Lines
    // "Key:   number kB" follow.
    mapping next;
    const char *const first = line.data(), *const last = first + line.size();
    const auto low = std::from_chars(first, last, next.begin, 16);
    if (low.ec == std::errc{} && low.ptr < last && *low.ptr == '-') {
      std::from_chars(low.ptr + 1, last, next.end, 16);
      inside = next.begin < end && begin < next.end;
      if (inside) mappings.push_back(next);
      continue;
    }
    const std::size_t colon = line.find(':'), digits = line.find_first_of("0123456789", colon);
    if (!inside || colon == line.npos || digits == line.npos) continue;
    std::size_t kibibytes = 0;
    std::from_chars(first + digits, last, kibibytes);
    const std::string_view key = line.substr(0, colon);
    const auto add_to = [&](std::optional<std::size_t>& sum) {
      sum = sum.value_or(0) + kibibytes * 1024;
    };
    mapping& current = mappings.back();
    if (key == "KernelPageSize") current.page_bytes = kibibytes * 1024;
    if (key == "AnonHugePages" || key == "ShmemPmdMapped" || key == "FilePmdMapped")
      add_to(current.transparent_huge);
    if (key == "Private_Hugetlb" || key == "Shared_Hugetlb") add_to(current.explicit_huge);
    // Rss does not include explicit huge pages.
    if (key == "Rss" || key == "Private_Hugetlb" || key == "Shared_Hugetlb")
      add_to(current.resident);
  }
  return mappings;
}

}  // namespace detail

page_facts inspect_pages(const void* data, std::size_t bytes, std::size_t max_samples) {
  page_facts facts;
  facts.bytes = bytes;
  if (bytes == 0) return facts;
  const std::size_t page = page_bytes();
  const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(data) / page * page,
                       end = round_up(reinterpret_cast<std::uintptr_t>(data) + bytes, page);
  std::ifstream file("/proc/self/smaps");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto mappings = detail::mappings_in(text, begin, end);
  if (!mappings.empty())
    facts.resident_bytes = facts.transparent_huge_bytes = facts.explicit_huge_bytes = 0;
  std::size_t largest = 0;
  for (const auto& mapping : mappings) {
    add_page_counts(facts, mapping, begin, end);
    if (const std::size_t size = std::min(end, mapping.end) - std::max(begin, mapping.begin);
        size > largest)
      largest = size, facts.page_bytes_of_kernel = mapping.page_bytes;
  }
  sample_nodes(facts, begin, end, max_samples);
  return facts;
}

}  // namespace longshore
