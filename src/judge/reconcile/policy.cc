#include "judge/reconcile/policy.h"

#include <cstddef>
#include <expected>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/text.h"
#include "judge/reconcile/object_id.h"

namespace wardmote::judge::reconcile {
namespace {

constexpr std::size_t kShown = 64;

/// `value` is `yes_word` or `no_word`.
bool read_word(std::string_view value, std::string_view yes_word, std::string_view no_word,
               bool& into) {
  if (value != yes_word && value != no_word) return false;
  into = value == yes_word;
  return true;
}

bool read_apply(std::string_view value, Policy::Apply& into) {
  if (value == "override") {
    into = Policy::Apply::kOverride;
  } else if (value == "if-not-present") {
    into = Policy::Apply::kIfNotPresent;
  } else if (value == "ignore") {
    into = Policy::Apply::kIgnore;
  } else {
    return false;
  }
  return true;
}

Result<void> read_one(std::string_view key, std::string_view value, Policy& policy) {
  std::string_view words;
  bool good = false;
  if (key == "apply") {
    words = "override, if-not-present or ignore";
    good = read_apply(value, policy.apply);
  } else if (key == "conflict") {
    words = "force or fail";
    good = read_word(value, "force", "fail", policy.force);
  } else if (key == "on-immutable") {
    words = "recreate or fail";
    good = read_word(value, "recreate", "fail", policy.recreate);
  } else if (key == "prune") {
    words = "yes or no";
    good = read_word(value, "yes", "no", policy.prune);
  } else if (key == "adopt") {
    words = "yes or no";
    good = read_word(value, "yes", "no", policy.adopt);
  } else {
    return fail(Errc::kInvalid, "the annotation {}{} is not known", kAnnotationPrefix,
                escape_control(key, kShown));
  }
  if (good) return {};
  return fail(Errc::kInvalid, "the annotation {}{} is not {}", kAnnotationPrefix, key, words);
}

}  // namespace

Result<Policy> read_policy(const std::map<std::string, std::string>& annotations) {
  Policy policy;
  for (const auto& [name, value] : annotations) {
    std::string_view key = name;
    if (name == kDigestAnnotation || !consume_prefix(key, kAnnotationPrefix)) continue;
    if (auto read = read_one(key, value, policy); !read) return std::unexpected(read.error());
  }
  return policy;
}

bool holds_others(const ObjectId& id) {
  return (id.group.empty() && id.kind == "Namespace") ||
         (id.group == "apiextensions.k8s.io" && id.kind == "CustomResourceDefinition");
}

bool keeps(const ObjectId& id, const std::map<std::string, std::string>& annotations) {
  const bool asked = annotations.contains(std::string(kAnnotationPrefix) + "prune");
  if (holds_others(id) && !asked) return true;
  const Result<Policy> policy = read_policy(annotations);
  if (!policy || !policy->prune || policy->apply == Policy::Apply::kIgnore) return true;
  // What its manifest says later does not reach it.
  return policy->apply == Policy::Apply::kIfNotPresent && !asked;
}

}  // namespace wardmote::judge::reconcile
