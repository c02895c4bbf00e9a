// Functions longshore_memory_...
#include "memory.hpp"

#include "longshore.h"

using namespace longshore::bindings;

longshore_memory* longshore::bindings::find_memory(const longshore_team& owner,
                                                   const void* address) {
  const auto* const cell = static_cast<const std::byte*>(address);
  for (const auto& object : owner.resources)
    if (auto* const memory = dynamic_cast<longshore_memory*>(object.get()))
      if (cell >= memory->cells.data() && cell < memory->cells.data() + memory->bytes)
        return memory;
  return nullptr;
}

extern "C" {

int longshore_memory_create(longshore_team* team, size_t bytes, longshore_memory** memory,
                            void** data) {
  return guarded([&] {
    required(memory, "the pointer for the memory") = nullptr;
    longshore_team& owner = checked(team);
    *memory =
        owner.keep(std::make_unique<longshore_memory>(owner, std::max<std::size_t>(bytes, 1)));
    if (data != nullptr) *data = (*memory)->cells.data();
  });
}

int longshore_memory_free(longshore_memory* memory) { return free_object(memory); }

longshore_memory* longshore_memory_of(const longshore_team* team, const void* cell) {
  return find_memory(*team, cell);
}
}
