// The operations of updates. Other patterns use them, too, so they lie in core/.
#pragma once

#include <longshore/core/op.hpp>
