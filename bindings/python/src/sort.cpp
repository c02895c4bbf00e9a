#include "sort.hpp"
namespace longshore::python {
void bind_sort(nanobind::module_&) {}
}
