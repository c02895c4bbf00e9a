// Reads a machine file: TOML, checked like a study file. Every error names the file, the line and
// the remedy.
#include <longshore/core/error.hpp>
#include <longshore/transport/simulated/detail/machine.hpp>

#include <fmt/core.h>

// toml++ is a library of headers.
#define TOML_EXCEPTIONS 1
#include <toml++/toml.h>

#include <algorithm>
#include <limits>
#include <set>
#include <string_view>

namespace longshore::simulated {
namespace {

constexpr double micro = 1e-6, nano = 1e-9, giga = 1e9;

// A table of the file. Each accessor marks its key as known.
class section {
 public:
  section(const std::string& file, const toml::table& parent, std::string_view name, bool required)
      : file_(file), name_(name), line_(line_of(parent)) {
    const toml::node* const found = parent.get(name);
    if (found == nullptr) {
      if (required) refuse(line_, fmt::format("the table [{}] is missing", name));
      return;
    }
    line_ = line_of(*found);
    table_ = found->as_table();
    if (table_ == nullptr) refuse(line_, fmt::format("'{0}' must be a table: [{0}]", name));
  }

  [[nodiscard]] bool has(std::string_view key) { return find(key) != nullptr; }
  [[nodiscard]] bool exists() const noexcept { return table_ != nullptr; }

  /// A required number from `smallest` on, times `unit`.
  double number(std::string_view key, double unit, double smallest = 0) {
    const toml::node* const value = required(key, "a number");
    return checked(*value, key, smallest) * unit;
  }
  /// `otherwise` is in seconds.
  double number_or(std::string_view key, double unit, double otherwise) {
    return find(key) == nullptr ? otherwise : number(key, unit);
  }
  /// A required rate in GB/s, as seconds per byte.
  double rate(std::string_view key) { return rate(*required(key, "GB/s"), key); }
  double rate(const toml::node& value, std::string_view key) const {
    const double rate = checked(value, key, 0);
    if (rate == 0) refuse(line_of(value), fmt::format("{} = 0: must be positive", path(key)));
    return 1 / (rate * giga);
  }
  int integer(std::string_view key, int smallest = 1) {
    const toml::node* const node = required(key, "an integer");
    const auto value = node->value_exact<std::int64_t>();
    if (!value || *value < smallest || *value > max_integer)
      refuse(line_of(*node),
             fmt::format("{}: must be an integer from {} to {}", path(key), smallest, max_integer));
    return static_cast<int>(*value);
  }
  int integer_or(std::string_view key, int otherwise, int smallest = 1) {
    return find(key) == nullptr ? otherwise : integer(key, smallest);
  }
  std::string text(std::string_view key) {
    const toml::node* const node = required(key, "a text");
    const auto value = node->value_exact<std::string>();
    if (!value || value->empty())
      refuse(line_of(*node), fmt::format("{}: must be a text in quotes", path(key)));
    return *value;
  }
  std::size_t choice(std::string_view key, std::initializer_list<std::string_view> names) {
    const std::string value = text(key);
    const auto found = std::find(names.begin(), names.end(), value);
    if (found == names.end()) {
      std::string all;
      for (const auto name : names) all += (all.empty() ? "" : ", ") + std::string(name);
      refuse(line_of(*find(key)),
             fmt::format("{} = '{}': must be one of {}", path(key), value, all));
    }
    return static_cast<std::size_t>(found - names.begin());
  }
  /// Whether the sizes in lists of this table are points. Otherwise each size is the upper limit of
  /// a class of sizes.
  bool has_points() { return has("sizes") && choice("sizes", {"limits", "points"}) == 1; }
  const toml::node* required(std::string_view key, std::string_view what) {
    const toml::node* const value = find(key);
    if (value == nullptr)
      refuse(line_, fmt::format("{0} is missing: write `{1} = ...` ({2}) below [{3}]", path(key),
                                key, what, name_));
    return value;
  }
  /// Refuses keys that no accessor has asked for.
  void finish() const {
    if (table_ == nullptr) return;
    for (const auto& [key, value] : *table_)
      if (known_.count(std::string(key.str())) == 0) {
        std::string names;
        for (const auto& name : known_) names += (names.empty() ? "" : ", ") + name;
        refuse(static_cast<unsigned>(key.source().begin.line),
               fmt::format("unknown key {}: [{}] has {}", path(key.str()), name_, names));
      }
  }
  [[noreturn]] void refuse(unsigned line, const std::string& problem) const {
    fail(errc::usage, "{}:{}: {}", file_, line, problem);
  }
  [[nodiscard]] std::string path(std::string_view key) const {
    return fmt::format("{}.{}", name_, key);
  }
  static unsigned line_of(const toml::node& node) {
    return std::max(1u, static_cast<unsigned>(node.source().begin.line));
  }
  double checked(const toml::node& node, std::string_view key, double smallest) const {
    const auto value = node.value<double>();
    if (!node.is_number() || !value || !(*value >= smallest) ||
        *value > std::numeric_limits<float>::max())
      refuse(line_of(node),
             fmt::format("{}: must be a number that is not below {}", path(key), smallest));
    return *value;
  }

 private:
  static constexpr int max_integer = 1 << 20;
  const toml::node* find(std::string_view key) {
    known_.insert(std::string(key));
    return table_ == nullptr ? nullptr : table_->get(key);
  }

  const std::string& file_;
  std::string_view name_;
  unsigned line_;
  const toml::table* table_ = nullptr;
  std::set<std::string> known_;
};

// Reads one number, or a list of [largest size, number] whose last entry has no limit. The numbers
// are GB/s if `invert`, else ns.
rate_by_size read_rates(section& in, std::string_view key, bool invert = false) {
  const std::string unit = invert ? "GB/s" : "ns";
  const toml::node* const node = in.required(
      key, fmt::format("{}: a number, or a list [[largest size, {}], ...]", unit, unit));
  const auto seconds = [&](const toml::node& value) {
    return invert ? in.rate(value, key) : in.checked(value, key, 0) * nano;
  };
  const bool are_points = in.has_points();
  const toml::array* const list = node->as_array();
  if (list == nullptr) return rate_by_size(seconds(*node));
  rate_by_size rates;
  rates.are_points = are_points;
  auto& classes = rates.classes;
  classes.clear();
  for (const toml::node& item : *list) {
    const toml::array* const pair = item.as_array();
    if (pair == nullptr || pair->size() != 2)
      in.refuse(section::line_of(item),
                fmt::format("{}: each entry must be [largest size, {}]", in.path(key), unit));
    const double largest = in.checked(*pair->get(0), key, 1);
    classes.push_back({static_cast<std::size_t>(largest), seconds(*pair->get(1))});
    if (classes.size() > 1 && classes[classes.size() - 2].largest >= classes.back().largest)
      in.refuse(section::line_of(item), fmt::format("{}: the sizes must ascend", in.path(key)));
  }
  if (classes.empty())
    in.refuse(section::line_of(*node), fmt::format("{}: the list is empty", in.path(key)));
  if (!rates.are_points) classes.back().largest = rate_by_size::no_limit;
  return rates;
}

void read_network(section& in, machine& read) {
  auto& network = read.network;
  network.latency = in.number("latency_us", micro);
  network.send_overhead = in.number("send_overhead_us", micro);
  network.receive_overhead = in.number("receive_overhead_us", micro);
  network.overhead_per_byte = in.number_or("overhead_ns_per_byte", nano, 0);
  network.gap = in.number("gap_us", micro);
  network.per_byte = read_rates(in, "ns_per_byte");
}

void read_topology(section& in, machine& read) {
  auto& topology = read.topology;
  topology.kind =
      static_cast<machine::topology_kind>(in.choice("kind", {"crossbar", "fat-tree", "dragonfly"}));
  if (topology.kind == machine::topology_kind::crossbar) return;
  topology.hop = in.number("hop_us", micro);
  topology.link_per_byte = in.rate("link_GB_per_s");
  if (topology.kind == machine::topology_kind::fat_tree) {
    topology.nodes_per_switch = in.integer("nodes_per_switch");
    topology.uplinks = in.integer("uplinks");
    return;
  }
  topology.nodes_per_switch = in.integer("nodes_per_router");
  topology.routers_per_group = in.integer("routers_per_group");
  topology.global_links = in.integer("global_links");
  topology.valiant = in.choice("routes", {"minimal", "valiant"}) == 1;
  if (topology.valiant) topology.seed = static_cast<std::uint64_t>(in.integer("seed", 0));
}

void read_cost(section& in, machine& read) {
  auto& costs = read.costs;
  const auto required = [&](const char* work, std::string_view key, bool is_rate = false) {
    costs[work] = read_rates(in, key, is_rate);
  };
  const auto optional = [&](const char* work, std::string_view key, const char* otherwise,
                            bool is_rate = false) {
    costs[work] = in.has(key) ? read_rates(in, key, is_rate) : costs[otherwise];
  };
  required("streamed_bytes", "stream_GB_per_s", true);
  optional("stream_copies", "stream_copy_GB_per_s", "streamed_bytes", true);
  required("bucketed_keys", "bucket_ns");
  required("sorted_keys", "sort_ns");
  required("table_accesses", "table_access_ns");
  optional("part_sorted_keys", "part_sort_ns", "sorted_keys");
  optional("agp_accesses", "agp_access_ns", "table_accesses");
  optional("table_updates", "table_update_ns", "table_accesses");
  optional("private_updates", "private_update_ns", "table_accesses");
  if (in.has("line_ns")) read.cache_lines = read_rates(in, "line_ns");

  const double push = in.number("push_ns", nano), pull = in.number("pull_ns", nano),
               conveyor_push = in.number_or("conveyor_push_ns", nano, push),
               conveyor_pull = in.number_or("conveyor_pull_ns", nano, pull);
  const auto set = [&](const char* work, double seconds) { costs[work] = rate_by_size(seconds); };
  set("pushed_items", push);
  set("pulled_items", pull);
  set("conveyor_pushes", conveyor_push);
  set("conveyor_pulls", conveyor_pull);
  // Each end of a reply pays half of the reply's cost.
  set("replies", in.number_or("reply_ns", nano, push + pull) / 2);
  set("conveyor_replies",
      in.number_or("conveyor_reply_ns", nano, conveyor_push + conveyor_pull) / 2);
}

machine read_tables(const std::string& file, const toml::table& root) {
  machine read;
  read.file = file;
  for (const auto& [key, value] : root)
    if (constexpr std::string_view names[] = {"machine", "network", "memory", "topology", "cost"};
        std::find(std::begin(names), std::end(names), key.str()) == std::end(names))
      fail(errc::usage,
           "{}:{}: unknown table [{}]: a machine file has [machine], [network], "
           "[memory], [topology] and [cost]",
           file, key.source().begin.line, key.str());

  section about(file, root, "machine", true);
  read.name = about.text("name");
  read.version = about.text("version");
  read.nodes = about.integer("nodes");
  read.ranks_per_node = about.integer("ranks_per_node");
  read.cores = about.integer_or("cores", 0);
  read.core_switch = about.number_or("switch_ns", nano, 0);
  about.finish();

  section network(file, root, "network", read.nodes > 1);
  if (network.exists()) read_network(network, read);
  network.finish();

  section memory(file, root, "memory", true);
  read.memory.near_copy = read_rates(memory, "near_copy_GB_per_s", true);
  read.memory.far_copy = read_rates(memory, "far_copy_GB_per_s", true);
  read.memory.own_copy = memory.has("own_copy_GB_per_s")
                             ? read_rates(memory, "own_copy_GB_per_s", true)
                             : read.memory.near_copy;
  read.memory.node_copy = memory.rate("node_copy_GB_per_s");
  read.memory.latency = memory.number("latency_us", micro);
  read.memory.atomic = memory.number("atomic_us", micro);
  read.memory.domains = memory.integer_or("domains", 1);
  read.costs["atomic_updates"] = rate_by_size(read.memory.atomic);
  read.costs["near_messages"] = rate_by_size(memory.number("message_us", micro));
  memory.finish();

  section topology(file, root, "topology", false);
  if (topology.exists()) read_topology(topology, read);
  topology.finish();

  section cost(file, root, "cost", true);
  read_cost(cost, read);
  cost.finish();
  return read;
}

}  // namespace

machine read_machine(const std::string& file) {
  try {
    return read_tables(file, toml::parse_file(file));
  } catch (const toml::parse_error& e) {
    const auto line = e.source().begin.line;
    fail(errc::usage, "{}:{}: {}", file, line == 0 ? 1 : line, std::string(e.description()));
  }
}

}  // namespace longshore::simulated
