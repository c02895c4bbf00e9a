// Compiles the header as C++98, the oldest C++ that it supports. It is never run.
#include "header_test.c"
