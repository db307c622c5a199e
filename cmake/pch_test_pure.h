#pragma once
// Heavy headers of the tests of the pure floors. Nothing may depend on this file: every file includes what it needs.

#include "pch_pure.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
