#pragma once
// Heavy headers of the tests from the runtime floor upwards. Nothing may depend on this file: every file includes what it needs.

#include "pch_async.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
