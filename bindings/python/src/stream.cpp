#include "stream.hpp"
namespace longshore::python {
void bind_stream(nanobind::module_&) {}
}
