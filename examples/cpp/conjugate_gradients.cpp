// Solves A x = b by conjugate gradients, for a sparse matrix in a Matrix Market file.
//
// Each rank owns a block of rows, and the same elements of all vectors. A row needs the vector
// elements of its columns. Elements that other ranks own are the ghosts of the rank. A ghost
// exchange copies the ghosts before each product. Meanwhile the rank multiplies the rows that need
// no ghost.
//
// Verification: the residual b - A x, and the known solution.
//
//     LONGSHORE_RANKS=4 conjugate_gradients        mpirun -n 4 conjugate_gradients FILE.mtx
#include <longshore/longshore.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using numbers = std::vector<double>;

// A Matrix Market file: the Laplacian of a square of 24 x 24 cells, numbered without order.
std::string poisson() {
  constexpr int n = 24, cells = n * n;
  const auto row = [](int x, int y) { return 1 + (x + n * y) * 229 % cells; };
  std::ostringstream text;
  text << "%%MatrixMarket matrix coordinate real symmetric\n"
       << cells << ' ' << cells << ' ' << cells + 2 * n * (n - 1) << '\n';
  const auto link = [&](int a, int b) {
    text << std::max(a, b) << ' ' << std::min(a, b) << " -1\n";
  };
  for (int y = 0; y < n; ++y)
    for (int x = 0; x < n; ++x) {
      text << row(x, y) << ' ' << row(x, y) << " 4\n";
      if (x + 1 < n) link(row(x, y), row(x + 1, y));
      if (y + 1 < n) link(row(x, y), row(x, y + 1));
    }
  return text.str();
}

// The rows of one rank. Entry k of a row has its column, and its place in a vector of this rank:
// first the elements that the rank owns, then the ghosts.
struct matrix {
  struct entry {
    std::int64_t column;
    double value;
    std::size_t place = 0;
  };
  std::int64_t size = 0, first = 0;  // rows of all ranks; first row of this rank
  std::vector<std::vector<entry>> rows;
  std::vector<std::int64_t> ghosts;               // the columns of other ranks, ascending
  std::vector<std::size_t> inner_rows, rim_rows;  // without and with ghosts

  matrix(std::istream& file, const longshore::team& team) {
    std::string head;
    std::getline(file, head);
    if (!head.starts_with("%%MatrixMarket matrix coordinate "))
      throw std::runtime_error("this is not a Matrix Market file of a sparse matrix: " + head);
    const bool is_symmetric = head.find("symmetric") != std::string::npos;
    while (file.peek() == '%') file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
    std::int64_t columns = 0, entries = 0;
    file >> size >> columns >> entries;
    first = size * team.rank() / team.size();
    rows.resize(static_cast<std::size_t>(size * (team.rank() + 1) / team.size() - first));
    const auto add = [this](std::int64_t row, std::int64_t column, double value) {
      if (is_mine(row)) rows[static_cast<std::size_t>(row - first)].push_back({column, value});
    };
    std::int64_t row = 0, column = 0;
    double value = 0;
    for (; entries > 0 && file >> row >> column >> value; --entries) {
      add(row - 1, column - 1, value);
      if (is_symmetric && row != column) add(column - 1, row - 1, value);
    }
    if (entries > 0 || size != columns) throw std::runtime_error("the Matrix Market file is wrong");
    find_ghosts();
  }

  [[nodiscard]] bool is_mine(std::int64_t row) const {
    return row >= first && row < first + static_cast<std::int64_t>(rows.size());
  }

  void find_ghosts() {
    for (const auto& row : rows)
      for (const entry& e : row)
        if (!is_mine(e.column)) ghosts.push_back(e.column);
    std::sort(ghosts.begin(), ghosts.end());
    ghosts.erase(std::unique(ghosts.begin(), ghosts.end()), ghosts.end());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      bool needs_ghosts = false;
      for (entry& e : rows[i]) {
        const auto ghost = std::lower_bound(ghosts.begin(), ghosts.end(), e.column);
        needs_ghosts |= !is_mine(e.column);
        e.place = static_cast<std::size_t>(
            is_mine(e.column) ? e.column - first
                              : static_cast<std::int64_t>(rows.size()) + (ghost - ghosts.begin()));
      }
      (needs_ghosts ? rim_rows : inner_rows).push_back(i);
    }
  }
};

double solution(std::int64_t i) { return std::sin(0.1 * static_cast<double>(i)) + 2; }

void solve(longshore::team& team, std::istream& file, bool is_poisson) {
  const matrix a(file, team);
  const std::size_t n = a.rows.size();
  // In memory of this allocator neighbours read the elements themselves, without messages.
  std::vector<double, longshore::shared_allocator<double>> p(n + a.ghosts.size());
  longshore::ghost_exchange ghosts(team, n, a.ghosts, {.accumulates = false},
                                   longshore::ghost_field(p.data(), p.data() + n));

  const auto multiply = [&](const std::vector<std::size_t>& rows, numbers& product) {
    for (const std::size_t i : rows) {
      product[i] = 0;
      for (const auto& e : a.rows[i]) product[i] += e.value * p[e.place];
    }
  };
  const auto product_of_p = [&](numbers& product) {
    ghosts.start_update();
    multiply(a.inner_rows, product);
    ghosts.wait();
    multiply(a.rim_rows, product);
  };
  const auto dot = [&](const auto& v, const auto& w) {
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += v[i] * w[i];
    return team.allreduce_value(sum, longshore::reduction::sum);
  };

  numbers b(n), x(n), q(n);
  for (std::size_t i = 0; i < n; ++i)
    for (const auto& e : a.rows[i]) b[i] += e.value * solution(e.column);
  numbers r = b;
  std::copy(r.begin(), r.end(), p.begin());
  const double target = 1e-24 * dot(b, b);
  double rr = dot(r, r);
  int steps = 0;
  for (; rr > target && steps < 10 * a.size; ++steps) {
    product_of_p(q);
    const double alpha = rr / dot(p, q), before = rr;
    for (std::size_t i = 0; i < n; ++i) x[i] += alpha * p[i], r[i] -= alpha * q[i];
    rr = dot(r, r);
    for (std::size_t i = 0; i < n; ++i) p[i] = r[i] + rr / before * p[i];
  }

  std::copy(x.begin(), x.end(), p.begin());
  product_of_p(q);
  double error = 0;
  for (std::size_t i = 0; i < n; ++i) {
    r[i] = b[i] - q[i];
    error = std::max(error, std::abs(x[i] - solution(a.first + static_cast<std::int64_t>(i))));
  }
  error = team.allreduce_value(error, longshore::reduction::max);
  const double residual = std::sqrt(dot(r, r) / dot(b, b));
  const bool right = residual < 1e-9 && (!is_poisson || error < 1e-9);
  if (team.rank() == 0)
    std::printf("conjugate_gradients: ranks=%d rows=%lld steps=%d residual=%.1e verified=%s\n",
                team.size(), static_cast<long long>(a.size), steps, residual, right ? "yes" : "no");
  if (!right) throw std::runtime_error("conjugate_gradients: the solution is wrong");
}

}  // namespace

int main(int argc, char** argv) {
  longshore::run(argc, argv, [=](longshore::team& team) {
    if (argc == 1) {
      std::istringstream text(poisson());
      return solve(team, text, true);
    }
    std::ifstream file(argv[1]);
    if (!file) throw std::runtime_error("cannot read " + std::string(argv[1]));
    solve(team, file, false);
  });
}
