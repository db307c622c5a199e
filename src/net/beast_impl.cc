// The compiled part of Boost.Beast (BOOST_BEAST_SEPARATE_COMPILATION), once for the whole program.
#include <boost/beast/src.hpp>
