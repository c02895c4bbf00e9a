// Old name of shareable_memory.hpp, until the next version.
#pragma once

#include <longshore/transport/shareable_memory.hpp>
