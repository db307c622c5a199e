#pragma once

#include <boost/json/object.hpp>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace wardmote::codec {

/// An object of Kubernetes as a file wants it, and where that stands.
struct Manifest {
  std::string file;
  int line = 1;
  boost::json::object object;
};

/// What is wrong in a file: `a.yaml:3:5: the key 'name' is given twice`.
struct ManifestFault {
  std::string file;
  int line = 1;
  int column = 1;
  std::string why;
  friend bool operator==(const ManifestFault&, const ManifestFault&) = default;
};
std::string describe(const ManifestFault& fault);

struct Manifests {
  std::vector<Manifest> objects;
  std::vector<ManifestFault> faults;
};

inline constexpr std::size_t kMostManifests = 20'000;

/// Appends the objects of one file, by its name `*.json` as JSON, else as YAML of any number of
/// documents; a `kind: List` is its items. Each has an apiVersion, a kind and a name that fit into
/// a path. What belongs to the server (`status`, `creationTimestamp`) is left out, or refused
/// (`uid`, `resourceVersion`, `managedFields`). The `stringData` of a Secret goes into its `data`.
/// Pure.
void read_manifests(std::string_view file, std::string_view bytes, Manifests& into);

}  // namespace wardmote::codec
