#pragma once

#include <map>
#include <memory>
#include <string>
#include <typeindex>
#include <typeinfo>
#include <utility>

namespace wardmote::runtime {

/// Objects that several users of one runtime share, by type and name: for example a connection to a
/// daemon that several checks ask. An object lives as long as somebody holds it. Thread: the core
/// loop.
class SharedResources {
 public:
  /// Returns the object of that name; calls `make` (which returns a shared_ptr<T>) when nobody
  /// holds one.
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
