// Takes the tasking layers on foreign libraries into a static program. Nothing but the reference to
// link_task_layers() makes a linker take this file. In a shared build the layers are modules.
#include <longshore/machine/detail/task_layer.hpp>

namespace longshore::detail {

#ifdef LONGSHORE_HAVE_OPENMP
[[gnu::used]] static const task_layer_entry* const openmp = &entry_of_longshore_openmp;
#endif
#ifdef LONGSHORE_HAVE_TBB
[[gnu::used]] static const task_layer_entry* const tbb = &entry_of_longshore_tbb;
#endif

void link_task_layers() noexcept {}

}  // namespace longshore::detail
