// The header-only Boost.Test runner. Cases are in the other files of this folder.
#define BOOST_TEST_MODULE ggufscope
#include <boost/test/included/unit_test.hpp>
