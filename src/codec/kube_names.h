#pragma once

#include <string_view>

namespace wardmote::codec {

/// `v1`, `apps/v1`
bool is_api_version(std::string_view text);

/// `ConfigMap`
bool is_kind(std::string_view text);

/// Whether an object, or a namespace, can have this name: it is one part of a path
/// (k8s.io/apimachinery/pkg/api/validation/path).
bool is_object_name(std::string_view text);

/// Whether a ConfigMap or a Secret can have a value of this name (k8s.io/apimachinery,
/// pkg/util/validation, IsConfigMapKey).
bool is_data_key(std::string_view text);

}  // namespace wardmote::codec
