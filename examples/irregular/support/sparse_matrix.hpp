// A sparse matrix in compressed rows. Rows are distributed cyclically over P ranks: row i is on
// rank i mod P, as in bale. The matrix of a graph has the neighbours of vertex i in row i, with the
// weights of the edges as values.
#pragma once

#include <longshore/array/cyclic.hpp>
#include <longshore/transport/team.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace examples {

/// An entry on the rank that owns its row.
struct entry {
  std::int64_t row, column;
  double value;
  std::size_t offset;  ///< of the row on its rank
};

/// An entry in a message to the rank that owns its row.
struct row_entry {
  std::uint64_t offset;  ///< of the row on its rank
  std::int64_t column;
  double value;
};

/// One rank's rows.
class sparse_matrix {
 public:
  using row_map = longshore::cyclic::map;

  sparse_matrix() : sparse_matrix(0, 0, 0, 1, {}) {}
  /// Local. Takes all entries of this rank's rows, in any order. Stores the entries of each row in
  /// the order of their columns.
  sparse_matrix(std::uint64_t rows, std::uint64_t columns, int rank, int ranks,
                std::span<const row_entry> entries);

  [[nodiscard]] std::uint64_t rows() const noexcept { return map_.size(); }
  [[nodiscard]] std::uint64_t columns() const noexcept { return columns_; }
  /// The ranks and offsets of the rows.
  [[nodiscard]] const row_map& map() const noexcept { return map_; }

  [[nodiscard]] std::size_t my_rows() const noexcept { return start_.size() - 1; }
  [[nodiscard]] std::size_t my_entries() const noexcept { return column_.size(); }
  /// The number of the row at that offset.
  [[nodiscard]] std::int64_t row_number(std::size_t offset) const noexcept {
    return static_cast<std::int64_t>(map_.index_of(rank_, offset));
  }
  [[nodiscard]] std::span<const std::int64_t> columns_of(std::size_t offset) const noexcept {
    return my_columns().subspan(start_[offset], start_[offset + 1] - start_[offset]);
  }
  [[nodiscard]] std::span<const double> values_of(std::size_t offset) const noexcept {
    return std::span(value_).subspan(start_[offset], start_[offset + 1] - start_[offset]);
  }
  /// The columns of all entries of this rank, row by row.
  [[nodiscard]] std::span<const std::int64_t> my_columns() const noexcept { return column_; }

  /// Local. A matrix of the entries whose value is in (above, max].
  [[nodiscard]] sparse_matrix with_values(double above, double max) const;

  /// Returns entry i of this rank. `i` must never decrease from call to call, as in
  /// longshore::deliver. The matrix must outlive the object.
  class walk {
   public:
    explicit walk(const sparse_matrix& matrix) : matrix_(matrix) {}
    entry operator()(std::size_t i) {
      while (i >= matrix_.start_[offset_ + 1]) ++offset_;
      return {matrix_.row_number(offset_), matrix_.column_[i], matrix_.value_[i], offset_};
    }

   private:
    const sparse_matrix& matrix_;
    std::size_t offset_ = 0;
  };

  friend bool operator==(const sparse_matrix&, const sparse_matrix&) = default;

 private:
  row_map map_;
  std::uint64_t columns_;
  int rank_;
  std::vector<std::size_t> start_;  // first entry of each row, and the number of all entries
  std::vector<std::int64_t> column_;
  std::vector<double> value_;
};

/// Collective. Rank 0 gets the whole matrix, as a matrix of one rank. The other ranks get an empty
/// matrix.
[[nodiscard]] sparse_matrix whole_on_rank_0(longshore::team& team, const sparse_matrix& matrix);

}  // namespace examples
