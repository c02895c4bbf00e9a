#include "header_test.c"  // all of it is C++, too
