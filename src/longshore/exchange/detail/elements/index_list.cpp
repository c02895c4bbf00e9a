// Finds runs of consecutive pairs. Copies elements by loops compiled for usual element sizes.
#include <longshore/exchange/detail/elements/index_list.hpp>

#include <cassert>

namespace longshore::detail {
namespace {

// If runs have fewer pairs on average, the pairs are copied one by one.
constexpr std::size_t min_mean_run = 8;

template <copy_stores Stores, std::size_t Bytes>
void copy_elements(const element_batch& batch) {
  for_each_pair_of_addresses<Bytes>(
      batch, [](std::byte* to, const std::byte* from) { copy_bytes<Stores>(to, from, Bytes); });
}

template <copy_stores Stores>
void copy_pairs(const element_batch& batch, std::size_t bytes) {
  const bool is_block = batch.to_index == nullptr && batch.from_index == nullptr &&
                        batch.to_stride_bytes == static_cast<std::ptrdiff_t>(bytes) &&
                        batch.from_stride_bytes == static_cast<std::ptrdiff_t>(bytes);
  if (is_block) {
    copy_bytes<Stores>(batch.to, batch.from, batch.count * bytes);
    return;
  }
  switch (bytes) {
    case 4: return copy_elements<Stores, 4>(batch);
    case 8: return copy_elements<Stores, 8>(batch);
    case 16: return copy_elements<Stores, 16>(batch);
    case 24: return copy_elements<Stores, 24>(batch);
    default:
      for_each_pair_of_addresses<0>(batch, [bytes](std::byte* to, const std::byte* from) {
        copy_bytes<Stores>(to, from, bytes);
      });
  }
}

}  // namespace

index_list::index_list(std::vector<std::uint32_t> indices)
    : first_(indices.empty() ? 0 : indices[0]), count_(indices.size()) {
  std::size_t i = 0;
  while (i < count_ && indices[i] == first_ + i) ++i;
  if (i == count_) return;
  const auto owner = std::make_shared<const std::vector<std::uint32_t>>(std::move(indices));
  indices_ = {owner, owner->data()};
}

std::vector<std::uint32_t> index_list::to_vector() const {
  std::vector<std::uint32_t> all(count_);
  for (std::size_t i = 0; i < count_; ++i) all[i] = (*this)[i];
  return all;
}

index_list index_list::slice(std::size_t begin, std::size_t count) const {
  assert(begin + count <= count_);
  index_list part(begin < count_ ? (*this)[begin] : 0, count);
  if (indices_ != nullptr && count > 0) part.indices_ = {indices_, indices_.get() + begin};
  return part;
}

bool operator==(const index_list& a, const index_list& b) noexcept {
  if (a.count_ != b.count_) return false;
  for (std::size_t i = 0; i < a.count_; ++i)
    if (a[i] != b[i]) return false;
  return true;
}

pair_list::pair_list(index_list to, index_list from) : to_(std::move(to)), from_(std::move(from)) {
  assert(to_.size() == from_.size());
  if (to_.is_contiguous() && from_.is_contiguous()) return;
  const std::size_t most_runs = size() / min_mean_run;
  for (std::size_t i = 0; i < size(); ++i) {
    const std::uint32_t t = to_[i], f = from_[i];
    if (!runs_.empty() && t == runs_.back().to + runs_.back().count &&
        f == runs_.back().from + runs_.back().count) {
      ++runs_.back().count;
      continue;
    }
    if (runs_.size() >= most_runs) {
      std::vector<run>().swap(runs_);
      return;
    }
    runs_.push_back({t, f, 1});
  }
  runs_.shrink_to_fit();
}

template <class F>
void pair_list::for_each_batch(const element_memory& to, const element_memory& from,
                               const F& f) const {
  if (size() == 0) return;
  const auto at = [](const element_memory& memory, std::uint32_t i) {
    return memory.data + static_cast<std::ptrdiff_t>(i) * memory.stride_bytes;
  };
  element_batch batch{.to_stride_bytes = to.stride_bytes, .from_stride_bytes = from.stride_bytes};
  if (!runs_.empty()) {
    for (const auto& block : runs_) {
      batch.to = at(to, block.to);
      batch.from = at(from, block.from);
      batch.count = block.count;
      f(batch);
    }
    return;
  }
  batch.to_index = to_.indices();
  batch.from_index = from_.indices();
  batch.to = to_.is_contiguous() ? at(to, to_.first()) : to.data;
  batch.from = from_.is_contiguous() ? at(from, from_.first()) : from.data;
  batch.count = size();
  f(batch);
}

void pair_list::copy(const element_memory& to, const element_memory& from,
                     std::size_t element_bytes, copy_stores stores) const {
  for_each_batch(to, from, [&](const element_batch& batch) {
    if (stores == copy_stores::streaming)
      copy_pairs<copy_stores::streaming>(batch, element_bytes);
    else
      copy_pairs<copy_stores::ordinary>(batch, element_bytes);
  });
}

void pair_list::combine(const element_memory& to, const element_memory& from, batch_function loop,
                        const void* op) const {
  for_each_batch(to, from, [&](const element_batch& batch) { loop(op, batch); });
}

}  // namespace longshore::detail
