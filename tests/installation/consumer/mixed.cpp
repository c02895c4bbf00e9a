// Uses the C++ and the C library in one program, which is compiled with hidden visibility: a team
// passes from one library to the other, errors of both are caught by their type, and a sort and a
// halo exchange find the team of MPI by its type. Rank 0 prints what went wrong, or "mixed: right".
#include <longshore.h>

#include <longshore/longshore.hpp>
#include <longshore_cxx.hpp>

#include <algorithm>
#include <cstdio>
#include <vector>

namespace {

// Whether `call` throws an error of Longshore with this code.
template <class Call>
bool throws(longshore::errc code, Call call) {
  try {
    call();
  } catch (const longshore::error& e) {
    return e.code() == code;
  }
  return false;
}

int wrong_results(longshore::team& team) {
  int wrong = 0;
  const auto expect = [&wrong](bool right) { wrong += right ? 0 : 1; };
  const bool over_mpi = team.transport_name() == "mpi";

  const longshore::c_team in_c = longshore::make_c_team(team);
  expect(longshore_team_size(in_c.get()) == team.size());
  longshore_array* table = nullptr;
  expect(throws(longshore::errc::usage, [&] {
    longshore::check_c(longshore_array_create(in_c.get(), LONGSHORE_INT64, 0, 100,
                                              "no such distribution", &table));
  }));
  expect(throws(longshore::errc::usage, [] {
    static_cast<void>(longshore::from_name<longshore::halo_mode>("no such mode"));
  }));

  std::vector<std::int64_t> keys(100, team.rank());
  const auto sorted =
      longshore::bucket_sort(team, keys,
                             {.exchange = over_mpi ? longshore::exchange_strategy::rma
                                                   : longshore::exchange_strategy::channel});
  expect(std::is_sorted(sorted.begin(), sorted.end()));

  const longshore::rank_grid grid(team, {.periodic = {true, true, true}});
  longshore::field<double> u(grid, {2, 2, 2}, 1);
  const longshore::halo_options options{.mode = over_mpi ? longshore::halo_mode::waitall
                                                         : longshore::halo_mode::channel};
  longshore::halo_exchange halo(grid, options, u);
  halo.exchange();
  return static_cast<int>(team.allreduce_value<std::int64_t>(wrong, longshore::reduction::sum));
}

}  // namespace

int main(int argc, char** argv) {
  int wrong = 0;
  longshore::run(argc, argv, [&wrong](longshore::team& team) {
    const int found = wrong_results(team);
    if (team.rank() != 0) return;
    wrong = found;
    std::puts(found == 0 ? "mixed: right" : "mixed: wrong");
  });
  return wrong == 0 ? 0 : 1;
}
