// The same triad over local and over distributed arrays, and with the charge of a simulated machine.
// test_vector_code.py compares the machine code.
#include <longshore/array/for_each.hpp>
#include <longshore/transport/team.hpp>

#include <cstddef>

namespace vector_code {

// The body of for_each; it does not depend on ranks.
struct triad {
  double q;
  void operator()(double& a, const double& b, const double& c) const { a = b + q * c; }
};

template <class Distribution>
using doubles = longshore::dist_array<double, Distribution>;

template <class Distribution>
void global_triad(longshore::tasks& workers, doubles<Distribution>& a,
                  const doubles<Distribution>& b, const doubles<Distribution>& c, double q) {
  longshore::for_each(workers, longshore::zip(a, b, c), triad{q});
}

}  // namespace vector_code

// The reference: a loop over local arrays, written by hand.
extern "C" void local_loop(double* a, const double* b, const double* c, double q, std::size_t n);
extern "C" void local_loop(double* a, const double* b, const double* c, double q, std::size_t n) {
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC ivdep
#endif
  for (std::size_t i = 0; i < n; ++i) a[i] = b[i] + q * c[i];
}

// The same loop with a charge per batch, as the loops of strategies have it.
extern "C" void charged_loop(longshore::team* ranks, double* a, const double* b, const double* c,
                             double q, std::size_t n);
extern "C" void charged_loop(longshore::team* ranks, double* a, const double* b, const double* c,
                             double q, std::size_t n) {
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC ivdep
#endif
  for (std::size_t i = 0; i < n; ++i) a[i] = b[i] + q * c[i];
  ranks->charge("copied_bytes", n * sizeof(double));
}

// Explicit instances, so that the object file has a section for each.
template void vector_code::global_triad(longshore::tasks&, vector_code::doubles<longshore::block>&,
                                        const vector_code::doubles<longshore::block>&,
                                        const vector_code::doubles<longshore::block>&, double);
template void vector_code::global_triad(longshore::tasks&, vector_code::doubles<longshore::cyclic>&,
                                        const vector_code::doubles<longshore::cyclic>&,
                                        const vector_code::doubles<longshore::cyclic>&, double);
template void vector_code::global_triad(longshore::tasks&,
                                        vector_code::doubles<longshore::block_cyclic>&,
                                        const vector_code::doubles<longshore::block_cyclic>&,
                                        const vector_code::doubles<longshore::block_cyclic>&,
                                        double);

// A slow loop that looks up every element by its global index. The test must see the difference.
extern "C" void looked_up_loop(vector_code::doubles<longshore::cyclic>* a,
                               const vector_code::doubles<longshore::cyclic>* b,
                               const vector_code::doubles<longshore::cyclic>* c, double q);
extern "C" void looked_up_loop(vector_code::doubles<longshore::cyclic>* a,
                               const vector_code::doubles<longshore::cyclic>* b,
                               const vector_code::doubles<longshore::cyclic>* c, double q) {
  for (std::size_t i = 0; i < a->size(); ++i) {
    const auto at = a->map().owner_offset(i);
    a->direct_parts()[at.rank][at.offset] =
        b->direct_parts()[at.rank][at.offset] + q * c->direct_parts()[at.rank][at.offset];
  }
}
