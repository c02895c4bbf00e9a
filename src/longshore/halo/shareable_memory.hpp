// Memory of one rank that other ranks of its node can map. Several patterns use it, so it lies in transport/.
#pragma once

#include <longshore/transport/shareable_memory.hpp>
