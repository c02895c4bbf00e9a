// Old name of rank_locations.hpp, until the next version.
#pragma once

#include <longshore/halo/rank_locations.hpp>
