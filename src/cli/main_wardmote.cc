#include <string>
#include <utility>
#include <vector>

#include "cli/run.h"

int main(int argc, char** argv) {
  std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  return wardmote::cli::run(std::move(words));
}
