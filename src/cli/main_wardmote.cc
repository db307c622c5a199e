#include <string>
#include <utility>
#include <vector>

#include "cli/go_flags.h"
#include "cli/run.h"

int main(int argc, char** argv) {
  std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  if (argc > 0) words = wardmote::cli::words_of(argv[0], std::move(words));
  return wardmote::cli::run(std::move(words));
}
