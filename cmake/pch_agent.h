#pragma once
// Headers of our own that most of the agent includes. Nothing may depend on this file: every file
// includes what it needs.

#include "pch_async.h"

#include "agent/board.h"
#include "config/config.h"
#include "judge/change.h"
#include "observe/kinds.h"
#include "runtime/runtime.h"
#include "serve/view.h"
