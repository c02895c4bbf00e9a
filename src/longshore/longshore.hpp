// Everything a program needs: #include <longshore/longshore.hpp>.
#pragma once

#include <longshore/transport/launch/run.hpp>
