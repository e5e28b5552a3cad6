// The runner. Cases are in the other files of this folder.
#define BOOST_TEST_MODULE ggufscope
#ifdef GGUFSCOPE_BOOST_LIBRARY  // compiled once, by the system
#include <boost/test/unit_test.hpp>
#else
#include <boost/test/included/unit_test.hpp>
#endif
