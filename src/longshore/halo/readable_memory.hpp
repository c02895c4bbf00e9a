// Old name of shareable_memory.hpp, until the next version.
#pragma once

#include <longshore/halo/shareable_memory.hpp>
