#pragma once

#include <boost/json/object.hpp>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "act/reconcile/kube_catalog.h"
#include "codec/yaml/manifests.h"
#include "judge/reconcile/object_id.h"
#include "judge/reconcile/policy.h"

namespace wardmote::act::reconcile {

/// An object that is to be there.
struct DesiredObject {
  judge::reconcile::ObjectId id;
  KindName kind;
  judge::reconcile::Policy policy;
  boost::json::object body;  ///< as it is applied, with the label of the set and `note`
  std::string digest;        ///< of all of it
  /// The digest that the object carries. Of a Secret it is one of the names of its values alone:
  /// from a digest of the values one could guess them.
  std::string note;
  std::string place;  ///< `rbac.yaml:12`
};

/// A kind that a CustomResourceDefinition of the set defines.
struct DefinedKind {
  std::string group;
  std::string kind;
  bool namespaced = false;
};

/// What manifests want, in the order in which it is applied. Faults: a policy that cannot be read,
/// a namespace where the kind has none, two manifests for one object. With a fault nothing of it
/// may be written.
struct DesiredSet {
  std::vector<DesiredObject> objects;
  std::vector<std::string> faults;  ///< escaped
};

/// Whether `live` carries the note of this manifest: it was applied from it.
bool is_noted(const DesiredObject& object, const boost::json::object& live);
/// Whether `live` was applied from this manifest, all that it says is so, and belongs to the field
/// manager of the set.
bool is_as_wanted(const DesiredObject& object, const boost::json::object& live,
                  std::string_view manager);

/// The kinds that manifests name.
std::vector<KindName> kinds_of(const std::vector<codec::Manifest>& manifests);
/// What the objects that a CustomResourceDefinition defines are called: as its author and as the
/// server says. Empty: it is none, or nobody can read it.
std::vector<std::string> kinds_defined_by(const boost::json::object& object);
std::vector<DefinedKind> defined_kinds(const std::vector<codec::Manifest>& manifests);

/// `space` is the namespace of objects that name none, `set` the name of the set.
DesiredSet make_desired(const std::vector<codec::Manifest>& manifests, const KubeCatalog& catalog,
                        std::string_view set, std::string_view space);

}  // namespace wardmote::act::reconcile
