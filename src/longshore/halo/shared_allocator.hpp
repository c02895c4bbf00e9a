// An allocator of memory that other processes of the node can map. Several patterns use it, so it lies in transport/.
#pragma once

#include <longshore/transport/shared_allocator.hpp>
