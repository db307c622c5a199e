#pragma once
// Heavy headers from the runtime floor upwards. Nothing may depend on this file: every file includes what it needs.

#include "pch_pure.h"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json.hpp>
