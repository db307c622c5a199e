#pragma once

#include <map>
#include <memory>
#include <string>
#include <typeindex>
#include <typeinfo>
#include <utility>

namespace wardmote::runtime {

/// What several users on one runtime have in common, by type and name: a connection to a daemon
/// that several checks ask. A thing is kept for as long as somebody holds it. Thread: the core
/// loop.
class Commons {
 public:
  /// The thing of that name, made by `make` (a shared_ptr<T>) where nobody has one.
  template <class T, class Make>
  std::shared_ptr<T> share(const std::string& name, Make make) {
    std::erase_if(things_, [](const auto& thing) { return thing.second.expired(); });
    std::weak_ptr<void>& held = things_[{std::type_index(typeid(T)), name}];
    if (std::shared_ptr<void> found = held.lock()) return std::static_pointer_cast<T>(found);
    std::shared_ptr<T> made = make();
    held = made;
    return made;
  }

 private:
  std::map<std::pair<std::type_index, std::string>, std::weak_ptr<void>> things_;
};

}  // namespace wardmote::runtime
