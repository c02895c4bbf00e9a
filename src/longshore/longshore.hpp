// The whole C++ interface of Longshore.
#pragma once

#include <longshore/aggregate/combining.hpp>
#include <longshore/aggregate/conveyor.hpp>
#include <longshore/aggregate/deliver.hpp>
#include <longshore/aggregate/exstack.hpp>
#include <longshore/aggregate/request_reply.hpp>
#include <longshore/array/dist_array.hpp>
#include <longshore/array/for_each.hpp>
#include <longshore/boxes/box_copy.hpp>
#include <longshore/boxes/box_exchange.hpp>
#include <longshore/gather/gather.hpp>
#include <longshore/gather/scatter.hpp>
#include <longshore/gather/streams.hpp>
#include <longshore/gather/update.hpp>
#include <longshore/ghost/ghost_exchange.hpp>
#include <longshore/halo/face_exchange.hpp>
#include <longshore/halo/halo_exchange.hpp>
#include <longshore/halo/rank_locations.hpp>
#include <longshore/machine/graph_placement.hpp>
#include <longshore/machine/placement_search.hpp>
#include <longshore/sort/bucket_sort.hpp>
#include <longshore/stream/stream.hpp>
#include <longshore/transport/exact_sum.hpp>
#include <longshore/transport/launch/join.hpp>
#include <longshore/transport/launch/run.hpp>
#include <longshore/transport/shareable_memory.hpp>
#include <longshore/transport/shared_allocator.hpp>
#include <longshore/transport/team.hpp>

// For programs: no header above needs them.
#include <algorithm>
#include <functional>
