// The compiled part of Boost.Asio (BOOST_ASIO_SEPARATE_COMPILATION), once for the whole program.
#include <boost/asio/impl/src.hpp>
