// Finds the addresses of elements.
#include <longshore/exchange/detail/device/device_pieces.hpp>

#include <longshore/device/detail/kernels.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <typeinfo>

namespace longshore::detail {
namespace {

// The addresses of elements: a box with strides, or a list.
struct placed_elements {
  std::byte* first;
  std::array<std::size_t, 3> extents;
  std::array<std::ptrdiff_t, 3> strides;
  std::vector<std::uint32_t> list = {};
};

// Contiguous elements get the extents of the box `like`, if there is one.
placed_elements placed(const field_elements& elements, const element_box* like) {
  const auto& [set, field] = elements;
  const auto stride = field.stride_bytes;
  if (const auto* const box = set.box()) {
    placed_elements made{field.data + box->first * stride, box->extents, box->strides};
    for (auto& step : made.strides) step *= stride;
    return made;
  }
  const auto& list = set.list();
  placed_elements made{field.data, {list.size(), 1, 1}, {stride, 0, 0}};
  if (list.is_contiguous() && field.places == nullptr) {
    made.first += static_cast<std::ptrdiff_t>(list.first()) * stride;
    if (like != nullptr) {
      made.extents = like->extents;
      for (int d = 1; d < 3; ++d)
        made.strides[d] = made.strides[d - 1] * static_cast<std::ptrdiff_t>(made.extents[d - 1]);
    }
    return made;
  }
  made.list = list.to_vector();
  if (field.places != nullptr)
    for (auto& index : made.list) index = field.places[index];
  return made;
}

template <class... T>
std::optional<device_number> number_of(const std::type_info& type) {
  std::optional<device_number> found;
  const auto try_type = [&]<class U>(U) {
    constexpr auto of_4_bytes = std::is_floating_point_v<U> ? device_number::f32
                                : std::is_signed_v<U>       ? device_number::i32
                                                            : device_number::u32;
    if (type == typeid(U))
      found = static_cast<device_number>(static_cast<int>(of_4_bytes) +
                                         std::countr_zero(sizeof(U)) - 2);
  };
  (try_type(T{}), ...);
  return found;
}

}  // namespace

const std::uint32_t* piece_collector::keep(std::vector<std::uint32_t> list) {
  if (list.empty()) return nullptr;
  lists_.push_back(std::move(list));
  return lists_.back().data();
}

void piece_collector::add(const field_elements& to, const field_elements& from) {
  if (to.set.empty()) return;
  auto target = placed(to, from.set.box()), source = placed(from, to.set.box());
  device_piece piece{target.first, source.first, to.field.element_bytes};
  std::copy(target.extents.begin(), target.extents.end(), piece.extents);
  std::copy(target.strides.begin(), target.strides.end(), piece.to_strides);
  std::copy(source.strides.begin(), source.strides.end(), piece.from_strides);
  piece.to_index = keep(std::move(target.list));
  piece.from_index = keep(std::move(source.list));
  pieces_.push_back(piece);
}

device_sums sums_of(const std::vector<device_piece>& pieces) {
  struct summand {
    std::byte* to;
    const std::byte* from;
  };
  std::vector<summand> all;
  for (const auto& piece : pieces)
    for (std::size_t i = 0; i < piece.size(); ++i)
      all.push_back(
          {piece.to + element_offset(piece.extents, piece.to_strides, piece.to_index, i),
           piece.from + element_offset(piece.extents, piece.from_strides, piece.from_index, i)});
  std::stable_sort(all.begin(), all.end(),
                   [](const summand& a, const summand& b) { return a.to < b.to; });
  device_sums sums;
  for (const auto& [to, from] : all) {
    if (sums.targets.empty() || sums.targets.back() != to) {
      sums.targets.push_back(to);
      sums.begins.push_back(sums.sources.size());
    }
    sums.sources.push_back(from);
    sums.begins.back() = sums.sources.size();
  }
  return sums;
}

std::optional<device_operation> operation_on_device(const element_type& type,
                                                    const combine_op& op) {
  const auto number =
      number_of<char, signed char, unsigned char, short, unsigned short, int, unsigned, long,
                unsigned long, long long, unsigned long long, float, double>(*type.type);
  const auto standard = op.standard_operation();
  if (!number || !standard) return std::nullopt;
  return device_operation{*number, static_cast<device_op>(*standard)};
}

}  // namespace longshore::detail
