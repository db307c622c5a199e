#pragma once

#include "judge/incident/incident.h"
#include "judge/notify/notice.h"
#include "judge/notify/router.h"

namespace wardmote::judge::notify {

/// What is told of `member`, under a name that its receiver knows.
NoticeItem item_of(NoticeKind kind, const Member& member);

/// The gravest name that the receiver got for `member` is remembered.
void remember_name(Member& member, const incident::Incident& told);

}  // namespace wardmote::judge::notify
