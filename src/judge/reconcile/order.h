#pragma once

#include "judge/reconcile/object_id.h"

namespace wardmote::judge::reconcile {

/// When an object is applied: what others need comes first (definitions of kinds, namespaces,
/// accounts, configuration, rights, classes), what acts on others last (webhooks). Members are
/// deleted the other way round.
int rank_of(const ObjectId& id);

/// By rank, then by id, so that the order of files and of documents changes nothing.
bool applies_before(const ObjectId& a, const ObjectId& b);

}  // namespace wardmote::judge::reconcile
