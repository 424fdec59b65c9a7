#pragma once

namespace exposim {

/// The numbers that decide what is simulated, in one place; those of rounding stand where they are used. What a user
/// may want to choose is the default of an option.
namespace thresholds {

// Contacts that change within a step (options of Expo).
/// Micro-steps that follow contacts through a step, and through its first half, where an estimate will do.
constexpr int kMicroSteps = 20, kMicroStepsAhead = 5;
/// No open contact is expected to accelerate towards a surface by more than this within a step [m/s²].
constexpr double kMaxAcceleration = 1500.0;
/// Error of an average force relative to the largest, where a kernel is chosen by it.
constexpr double kKernelTolerance = 1e-8;

// Events within a step.
/// Events located in a step: these, and some for each contact, up to a number of them.
constexpr int kEventsPerStep = 16, kEventsPerContact = 4, kMostCounted = 16;
/// A micro-step shorter than this share of the step is not taken; events closer than that count as one.
constexpr double kShortestShare = 1e-9;
/// Events within this share of a micro-step of the first one are due with it.
constexpr double kSimultaneous = 1e-6;

// The friction law.
/// A quantity that is due to reach zero has reached it at this share of what it was.
constexpr double kAsGoodAsZero = 1e-6;
/// Friction that would press a sliding contact into the ground harder than it is pushed out (Painlevé) is held back, to
/// leave this share of the normal direction's compliance.
constexpr double kLeastCompliance = 0.05;
/// Sliding velocities below this [m/s] have no direction.
constexpr double kNoSpeed = 1e-9;
/// Slower ones [m/s] turn as if they were this fast: Coulomb friction has no derivative at rest.
constexpr double kSlowest = 1e-6;

// States.
/// Velocities beyond this [rad/s, m/s] are absurd: the step has diverged.
constexpr double kMaxVelocity = 1e5;
/// A stretch given along the normal may be this share of its length, or of the shortest length [m] that counts.
constexpr double kTangential = 1e-6, kNoLength = 1e-6;
/// How far from unit length a quaternion may be given; closer, it is normalised.
constexpr double kQuaternionTolerance = 1e-3;

}  // namespace thresholds
}  // namespace exposim
