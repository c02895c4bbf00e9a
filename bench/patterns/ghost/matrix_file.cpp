// Reads the coordinate format of Matrix Market (Boisvert, Pozo, Remington, NISTIR 5935): a banner,
// comments, the sizes, and one line per entry. Also reads what other programs write: a byte order
// mark, unsigned integers, exponents of Fortran, and a banner with one % or without its last word
// (bale), which then counts as `general`. Only the places of the entries matter here. A line is
// read, checked and forgotten, unless its entry touches the part.
#include "patterns/ghost/mesh.hpp"
#include "patterns/ghost/text_lines.hpp"

#include <longshore/array/block.hpp>
#include <longshore/core/error.hpp>

#include <fmt/core.h>

#include <charconv>
#include <string_view>
#include <utility>

namespace longshore::bench {
namespace {

constexpr std::string_view blanks = " \t\r";

// The lines of a file, and the parts of a line that stand between blanks.
class line_reader {
 public:
  explicit line_reader(const std::string& name) : name_(name), lines_(name) {}

  // The next line that is neither empty nor a comment; false at the end of the file.
  bool next() {
    while (next_line())
      if (!rest_.empty() && rest_.front() != '%') return true;
    return false;
  }
  // The next line, comment or not, without blanks before and after.
  bool next_line() {
    if (!lines_.next(line_)) return false;
    ++number_;
    rest_ = line_;
    if (constexpr std::string_view mark = "\xef\xbb\xbf"; number_ == 1 && rest_.starts_with(mark))
      rest_.remove_prefix(mark.size());
    skip_blanks();
    return true;
  }
  // The next word of the line; empty at its end.
  std::string_view word() {
    const auto word = rest_.substr(0, rest_.find_first_of(blanks));
    rest_.remove_prefix(word.size());
    skip_blanks();
    return word;
  }
  std::uint64_t count(const char* what) {
    const auto text = word();
    std::uint64_t value = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (status != std::errc{} || end != text.data() + text.size())
      refuse("'{}' is no {}: a whole number is needed", text, what);
    return value;
  }
  void skip_number() {
    const auto text = word();
    const char* const end = text.data() + text.size();
    double value = 0;
    const auto [stop, status] =
        std::from_chars(text.data() + (text.starts_with('+') ? 1 : 0), end, value);
    bool is_number = status == std::errc{} || status == std::errc::result_out_of_range;
    if (is_number && stop != end) {  // only an exponent of Fortran may follow: 1.0D+00
      int exponent = 0;
      const char* const digits = stop + (end - stop > 1 && stop[1] == '+' ? 2 : 1);
      is_number = (*stop == 'D' || *stop == 'd') &&
                  std::from_chars(digits, end, exponent) == std::from_chars_result{end, {}};
    }
    if (!is_number) refuse("'{}' is not the number of an entry", text);
  }
  void expect_end() {
    if (!rest_.empty()) refuse("'{}' is left over at the end of the line", rest_);
  }

  template <class... Values>
  [[noreturn]] void refuse(fmt::format_string<const Values&...> format, const Values&... values) {
    fail(errc::usage, "{}, line {}: {}", name_, number_, fmt::format(format, values...));
  }

 private:
  void skip_blanks() {
    const auto first = rest_.find_first_not_of(blanks);
    rest_.remove_prefix(first == std::string_view::npos ? rest_.size() : first);
  }

  std::string name_;
  text_lines lines_;
  std::string line_;
  std::string_view rest_;
  std::uint64_t number_ = 0;
};

struct matrix_header {
  int numbers_of_entry = 1;
  bool is_symmetric = false;  // an entry stands for its mirror image, too
  std::uint64_t rows = 0, entries = 0;
};

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

matrix_header read_header(line_reader& lines) {
  const std::string banner = lines.next_line() ? lower_case(lines.word()) : "";
  if (banner != "%%matrixmarket" && banner != "%matrixmarket")
    lines.refuse("no file of Matrix Market, which begins with '%%MatrixMarket matrix coordinate'");
  if (lower_case(lines.word()) != "matrix" || lower_case(lines.word()) != "coordinate")
    lines.refuse("only 'matrix coordinate' is read: a sparse matrix");
  const std::string field = lower_case(lines.word());
  std::string symmetry = lower_case(lines.word());
  if (symmetry.empty()) symmetry = "general";
  matrix_header header;
  if (field == "pattern")
    header.numbers_of_entry = 0;
  else if (field == "complex")
    header.numbers_of_entry = 2;
  else if (field != "real" && field != "double" && field != "integer" &&
           field != "unsigned-integer")
    lines.refuse("'{}' is not one of real, integer, unsigned-integer, complex, pattern", field);
  header.is_symmetric = symmetry != "general";
  if (header.is_symmetric && symmetry != "symmetric" && symmetry != "skew-symmetric" &&
      symmetry != "hermitian")
    lines.refuse("'{}' is not one of general, symmetric, skew-symmetric, hermitian", symmetry);
  if (!lines.next()) lines.refuse("the file ends before the sizes of the matrix");
  header.rows = lines.count("number of rows");
  const std::uint64_t columns = lines.count("number of columns");
  header.entries = lines.count("number of entries");
  lines.expect_end();
  if (header.rows != columns)
    lines.refuse("the matrix has {} rows and {} columns; only a square one has ghosts here",
                 header.rows, columns);
  if (header.rows == 0 || header.rows > max_elements)
    lines.refuse("a matrix of {} rows is no mesh", header.rows);
  return header;
}

}  // namespace

std::uint64_t rows_of(const matrix_file& file) {
  line_reader lines(file.name);
  return read_header(lines).rows;
}

mesh_part part_of(const matrix_file& file, int part, int parts) {
  line_reader lines(file.name);
  const matrix_header header = read_header(lines);
  const block::map rows({}, header.rows, parts);
  std::vector<location> needed, given;
  const auto add = [&](const location& row, const location& column) {
    if (row.rank == column.rank) return;
    if (row.rank == part) needed.push_back(column);
    if (column.rank == part) given.push_back({row.rank, column.offset});
  };
  const auto index = [&](const char* what) {
    const std::uint64_t from_one = lines.count(what);
    if (from_one < 1 || from_one > header.rows)
      lines.refuse("{} {} is not in 1 to {}", what, from_one, header.rows);
    return rows.owner_offset(from_one - 1);
  };
  std::uint64_t entries = 0;
  for (; lines.next(); ++entries) {
    if (entries == header.entries)
      lines.refuse("one entry more than the {} that the file announces", header.entries);
    const location row = index("row"), column = index("column");
    for (int k = 0; k < header.numbers_of_entry; ++k) lines.skip_number();
    lines.expect_end();
    add(row, column);
    if (header.is_symmetric) add(column, row);
  }
  if (entries < header.entries)
    lines.refuse("the file ends after {} of {} entries", entries, header.entries);
  return part_of(rows.local_size(part), std::move(needed), std::move(given));
}

}  // namespace longshore::bench
