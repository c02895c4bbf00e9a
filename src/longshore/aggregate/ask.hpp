// The old name of request_reply.hpp, until the next version.
#pragma once

#include <longshore/aggregate/request_reply.hpp>
