// The table of Metropolis's TestWaitReady, and the order that it lacks.
#include "judge/version_gate/admission.h"

#include <gtest/gtest.h>

#include "judge/version_gate/release.h"
#include "judge/version_gate/status.h"

namespace wardmote::judge::version_gate {
namespace {

using Verdict = Admission::Verdict;

constexpr Release kHuge{.major = 10000};
constexpr Release kOwn{.major = 0, .minor = 1, .patch = 0};
const Product kProduct{
    .release = kOwn, .min_reconciler_release = kOwn, .min_apiserver_release = kOwn};

Stored stored(Status::State state, Release version, Release minimum) {
  return {.kind = Stored::Kind::kReadable,
          .status = {.state = state, .version = version, .minimum = minimum},
          .changed = 5};
}

Verdict verdict(const Stored& status) {
  return admit(kProduct, 4, status, 5).verdict;
}

TEST(GateAdmission, MetropolisTable) {
  EXPECT_EQ(verdict({}), Verdict::kNoStatus);
  EXPECT_EQ(verdict(stored(Status::State::kDone, Release(), Release())), Verdict::kStatusTooOld);
  EXPECT_EQ(verdict(stored(Status::State::kDone, kHuge, kHuge)), Verdict::kNodeTooOld);
  EXPECT_EQ(verdict(stored(Status::State::kDone, kHuge, kOwn)), Verdict::kReady);
}

TEST(GateAdmission, TheStateMakesNoDifference) {
  EXPECT_EQ(verdict(stored(Status::State::kWorking, kOwn, kOwn)), Verdict::kReady);
}

TEST(GateAdmission, AStatusThatNobodyCanReadIsWaitedFor) {
  const Stored corrupt{.kind = Stored::Kind::kUnreadable, .why = "cut off", .changed = 5};
  const Admission admission = admit(kProduct, 4, corrupt, 5);
  EXPECT_EQ(admission.verdict, Verdict::kUnreadable);
  EXPECT_EQ(admission.why, "the status cannot be read: cut off");
}

/// Reference 1.7.8.
TEST(GateAdmission, RegistersFirstAndReadsThen) {
  const Stored good = stored(Status::State::kDone, kOwn, kOwn);
  EXPECT_EQ(admit(kProduct, {}, good, 5).verdict, Verdict::kUnregistered);
  EXPECT_EQ(admit(kProduct, 6, good, 5).verdict, Verdict::kUnread);
  EXPECT_EQ(admit(kProduct, 6, good, 6).verdict, Verdict::kReady);
}

TEST(GateAdmission, SaysWhatIsMissing) {
  EXPECT_EQ(admit(kProduct, 4, stored(Status::State::kDone, kHuge, kHuge), 5).why,
            "the reconciled state needs nodes of release 10000.0.0 or newer; this one is 0.1.0");
  EXPECT_EQ(admit(kProduct, 4, stored(Status::State::kDone, Release(), Release()), 5).why,
            "this node needs what release 0.1.0 or a newer one reconciles; the state is of 0.0.0");
}

}  // namespace
}  // namespace wardmote::judge::version_gate
