// Asks the owners of ghosts where the elements are. Questions and answers go straight to the owners,
// which look indices up in their own lists.
#include <longshore/core/error.hpp>
#include <longshore/exchange/detail/agreement/messenger.hpp>
#include <longshore/ghost/detail/ghost_links.hpp>

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

namespace longshore::detail {
namespace {

constexpr auto not_owned = std::numeric_limits<std::uint32_t>::max();

template <class T>
std::vector<T> numbers_in(const std::vector<std::byte>& message) {
  std::vector<T> numbers(message.size() / sizeof(T));
  if (!message.empty()) std::memcpy(numbers.data(), message.data(), message.size());
  return numbers;
}

template <class T>
std::vector<std::byte> message_of(const std::vector<T>& numbers) {
  const auto bytes = std::as_bytes(std::span(numbers));
  return {bytes.begin(), bytes.end()};
}

// The elements of this rank, sorted by index.
class element_table {
 public:
  explicit element_table(std::span<const std::int64_t> owned)
      : indices_(owned.begin(), owned.end()) {
    if (!std::is_sorted(owned.begin(), owned.end())) {
      offsets_.resize(owned.size());
      std::iota(offsets_.begin(), offsets_.end(), std::uint32_t{0});
      std::sort(offsets_.begin(), offsets_.end(), [&](std::uint32_t a, std::uint32_t b) {
        return owned[a] != owned[b] ? owned[a] < owned[b] : a < b;
      });
      for (std::size_t i = 0; i < owned.size(); ++i) indices_[i] = owned[offsets_[i]];
    }
  }
  // Throws if the elements of `rank` have wrong indices.
  void check(int rank) const {
    if (!indices_.empty() && indices_.front() < 0)
      fail(errc::usage, "element {} of rank {} has index {}: indices must not be negative",
           offset(0), rank, indices_.front());
    const auto twice = std::adjacent_find(indices_.begin(), indices_.end());
    if (twice == indices_.end()) return;
    const auto first = static_cast<std::size_t>(twice - indices_.begin());
    fail(errc::usage, "elements {} and {} of rank {} have the same index {}", offset(first),
         offset(first + 1), rank, *twice);
  }
  [[nodiscard]] std::uint32_t find(std::int64_t index) const {
    const auto at = std::lower_bound(indices_.begin(), indices_.end(), index);
    if (at == indices_.end() || *at != index) return not_owned;
    return offset(static_cast<std::size_t>(at - indices_.begin()));
  }

 private:
  [[nodiscard]] std::uint32_t offset(std::size_t i) const {
    return offsets_.empty() ? static_cast<std::uint32_t>(i) : offsets_[i];
  }

  std::vector<std::int64_t> indices_;
  std::vector<std::uint32_t> offsets_;  // empty if the indices ascend as they were given
};

class asked_owners {
 public:
  explicit asked_owners(std::span<const std::int64_t> owned) : elements_(owned) {}

  // Collective. Throws errors of this rank after its collective calls.
  std::vector<location> find(team& ranks, std::span<const std::int64_t> indices,
                             std::span<const int> owners) {
    const int me = ranks.rank();
    std::optional<error> failure;
    try {
      check(ranks, indices, owners);
    } catch (const error& e) {
      failure = e;
    }
    if (failure) indices = {}, owners = {};  // this rank asks nothing, and answers

    // The ghosts in the order of their owners.
    std::vector<std::uint32_t> order(indices.size());
    std::iota(order.begin(), order.end(), std::uint32_t{0});
    if (!std::is_sorted(owners.begin(), owners.end()))
      std::stable_sort(order.begin(), order.end(),
                       [&](std::uint32_t a, std::uint32_t b) { return owners[a] < owners[b]; });
    std::vector<int> asked;
    for (const auto i : order)
      if (owners[i] != me && (asked.empty() || asked.back() != owners[i]))
        asked.push_back(owners[i]);
    connect(ranks, asked);

    const auto peers = messenger_->peers();
    const auto place_of = [&](int rank) {
      return static_cast<std::size_t>(std::lower_bound(peers.begin(), peers.end(), rank) -
                                      peers.begin());
    };
    std::vector<std::vector<std::int64_t>> questions(peers.size());
    for (const auto i : order)
      if (owners[i] != me) questions[place_of(owners[i])].push_back(indices[i]);
    std::vector<std::vector<std::byte>> messages;
    for (const auto& list : questions) messages.push_back(message_of(list));
    messages = messenger_->exchange(messages);
    for (auto& message : messages) {
      std::vector<std::uint32_t> answers;
      for (const auto index : numbers_in<std::int64_t>(message))
        answers.push_back(elements_.find(index));
      message = message_of(answers);
    }
    messages = messenger_->exchange(messages);
    std::vector<std::vector<std::uint32_t>> answers;
    for (const auto& message : messages) answers.push_back(numbers_in<std::uint32_t>(message));

    if (failure) throw error(*failure);
    std::vector<location> locations(indices.size());
    std::vector<std::size_t> next(peers.size());
    for (const auto i : order) {
      const int owner = owners[i];
      std::uint32_t offset = not_owned;
      if (owner == me)
        offset = elements_.find(indices[i]);
      else
        offset = answers[place_of(owner)][next[place_of(owner)]++];
      if (offset == not_owned)
        fail(errc::usage, "ghost {} of rank {} has index {}, and rank {} does not own that element",
             i, me, indices[i], owner);
      locations[i] = {owner, offset};
    }
    return locations;
  }

 private:
  void check(const team& ranks, std::span<const std::int64_t> indices,
             std::span<const int> owners) const {
    elements_.check(ranks.rank());
    if (indices.size() != owners.size())
      fail(errc::usage, "rank {} has {} ghosts and {} owners: give an owner for each ghost",
           ranks.rank(), indices.size(), owners.size());
    if (indices.size() >= not_owned)
      fail(errc::usage, "rank {} has {} ghosts, and a ghost graph can have {} on a rank",
           ranks.rank(), indices.size(), not_owned - 1);
    for (std::size_t i = 0; i < owners.size(); ++i)
      if (owners[i] < 0 || owners[i] >= ranks.size())
        fail(errc::usage, "ghost {} of rank {} has index {} and owner {}: there are ranks 0 to {}",
             i, ranks.rank(), indices[i], owners[i], ranks.size() - 1);
  }

  // Collective. Keeps the messenger of the call before if it reaches all owners of all ranks.
  void connect(team& ranks, std::span<const int> asked) {
    if (!messenger_ || (messenger::has_channels(ranks) && !messenger_->reaches(asked)))
      messenger_ = messenger::to(ranks, asked);
  }

  element_table elements_;
  std::shared_ptr<messenger> messenger_;
};

}  // namespace

ghost_locator locator_by_owners(std::span<const std::int64_t> owned) {
  // Copies of the locator share the table.
  return {[owned, made = std::make_shared<std::optional<asked_owners>>()](
              team& ranks, std::span<const std::int64_t> indices, std::span<const int> owners) {
            if (!*made) made->emplace(owned);
            return (*made)->find(ranks, indices, owners);
          },
          true};
}

}  // namespace longshore::detail
