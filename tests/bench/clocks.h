#pragma once
// What the benchmarks that take turns with other programs measure by.

#include <sys/resource.h>
#include <sys/time.h>

#include <chrono>

namespace wardmote::bench {

inline double microseconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_usec);
}

/// User and system time of this process and of its finished children.
inline double cpu_us() {
  double total = 0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    getrusage(who, &usage);
    total += microseconds(usage.ru_utime) + microseconds(usage.ru_stime);
  }
  return total;
}

/// Wall time since `begun`, in microseconds.
inline double since(std::chrono::steady_clock::time_point begun) {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begun)
      .count();
}

}  // namespace wardmote::bench
