// Everything a program needs: #include <longshore/longshore.hpp>.
#pragma once

#include <longshore/array/dist_array.hpp>
#include <longshore/gather/gather.hpp>
#include <longshore/transport/launch/run.hpp>
