#include "halo.hpp"
namespace longshore::python {
void bind_halo(nanobind::module_&) {}
}
