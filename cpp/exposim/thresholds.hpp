#pragma once

namespace exposim {

/// The numbers that decide what is simulated, in one place; those of rounding stand where they are used. What a user
/// may want to choose is the default of an option.
namespace thresholds {

// Contacts that change within a step (options of Expo).
/// Micro-steps that follow contacts through a step, at least.
constexpr int kMicroSteps = 2;
/// Error of the mean acceleration that a micro-step may make [m/s²]; beside it, this share of what the acceleration
/// without stiff forces changes by within the step, since that is frozen anyway: or a share that goes with the angle by
/// which bodies turn in it, and with its square, if that is less.
constexpr double kMicroTolerance = 0.01, kShareOfFreezing = 0.6, kShareOfTurn = 6.0, kShareOfSquare = 280.0;
/// Where joints may come to their limits, which take the swing of all that they carry, at most this share, and none
/// that goes with the square.
constexpr double kShareAtLimits = 0.3;
/// Where drives are followed too both shares are so many times as large: freezing costs more than what shows while
/// drives weigh on the inertia.
constexpr double kMoreWithDrives = 10.0 / 3.0;
/// How often micro-steps are halved at most, and to begin with where something slips; the share of their tolerance
/// below which the next is twice as long.
constexpr int kMostRungs = 8, kFirstRung = 1;
constexpr double kUpwards = 0.125;
/// Where contacts that change take the middle of a step further than this from where it was thought to be [rad, m], the
/// mass matrix is computed again.
constexpr double kFarMiddle = 8e-3;
/// Where the step leads elsewhere than foreseen, so that what turns feels about this much another acceleration
/// [rad/s²], they are followed again; also from less on where joints came to their limits, which take the swing of all
/// that they carry.
constexpr double kUnforeseen = 25.0, kUnforeseenAtLimit = 5.0;
/// No open contact is expected to accelerate towards a surface by more than this within a step [m/s²].
constexpr double kMaxAcceleration = 1500.0;
/// Where a landing was missed by that, the step is taken again with this factor on it, and then with all contacts.
constexpr double kMoreAcceleration = 16.0, kAnyAcceleration = 1e12;
/// Error of an average force relative to the largest, where a kernel is chosen by it.
constexpr double kKernelTolerance = 1e-8;
/// Where robot and contact space differ at the end of a step by more than this share of the forces, or the square of
/// its length over this time [s], but no more than a second share, they are made to agree; and again where more than
/// that is left, which is worth a look if it was more than a last share before, in so many iterations at most.
constexpr double kDisagreement = 1e-3, kDisagreementTime = 0.06, kDisagreementLeft = 3e-2, kWorthAnotherLook = 0.1;
constexpr int kMostAgreements = 3;

// Steps in which something turns fast (options of Expo).
/// A step is divided so that no body turns by more than this in a part of it [rad]; where one does after all, by an
/// impact, the part is good enough up to a factor.
constexpr double kMaxTurn = 0.3, kTurnSlack = 1.25;
/// Into so many parts a step is divided in which more happened than is located.
constexpr double kPartsWhenLimited = 4.0;
/// No step is divided into more parts: beyond, bodies turn further.
constexpr int kMostParts = 64;
/// Where a body turns by more than this in a part [rad], the part is repeated with what depends on velocity taken at
/// the mean of its ends. An even number of times, which errs on the side of losing energy.
constexpr double kSlowTurn = 0.05;
constexpr int kRepetitions = 2;
/// Not where that is the velocity that it was taken at, to this share of the largest.
constexpr double kSameVelocity = 1e-3;

// Joints within a step.
/// Drives are fitted exponentially up to an inertia of this minus one times that of the rule for stiff ones, and by
/// that rule alone from this on.
constexpr double kTooStiff = 2.5;
/// Drives are slow that add less than this share to the inertia that they have by themselves, which is at most so many
/// times that which they feel among others.
constexpr double kSlow = 0.25, kMostOfFelt = 4.0;
/// Where contacts change, drives are followed with them that add more than this share to the inertia.
constexpr double kReacts = 0.1;
/// Those that react more than this many times within the step are followed implicitly, as strands; of the others, each
/// micro-step takes at most this share of the time in which they react all together.
constexpr double kFastDrive = 8.0, kDriveStage = 0.75;
/// A motor is beyond its bound by this share of its effort; by no more than a second one it is hardly beyond it.
constexpr double kBeyondBound = 1e-9, kHardlyBeyond = 1e-2;
/// How often a step is taken again because a motor or dry friction was not what it was taken for; how often motors
/// may be taken from a bound, and each may change its mind. And how often that is asked before the step is taken.
constexpr int kMostSettlings = 16, kMostReleases = 6, kMostChanges = 3, kMostLooksAhead = 3;
/// So many times its inertia is added to a joint that comes to rest within the step.
constexpr double kRigid = 1e8;

// Events within a step.
/// Events located in a step: these, and some for each contact, up to a number of them.
constexpr int kEventsPerStep = 16, kEventsPerContact = 4, kMostCounted = 16;
/// A micro-step shorter than this share of the step is not taken; events closer than that count as one.
constexpr double kShortestShare = 1e-9;
/// A micro-step that was cut is cut again, at most so many times, while a mode outlives its end by more than this share
/// of the largest margin that it had.
constexpr int kCutsPerEvent = 6;
constexpr double kOvershoot = 0.3;
/// Events within this share of a micro-step of the first one are due with it.
constexpr double kSimultaneous = 1e-6;

// The friction law.
/// A force, a velocity, that is due to reach zero has reached it at this share of the largest it was.
constexpr double kNoForceLeft = 1e-3, kNoSpeedLeft = 1e-3;
/// Where friction presses sliding contacts into the ground harder than the ground pushes them out (Painlevé), their
/// force grows of itself. Micro-steps are halved, up to so many times, until it takes no more than this from the
/// determinant of an implicit stage; from there on it is held back to take no more, all together.
constexpr int kRungsToJam = 5;
constexpr double kMostOfStage = 0.5;
/// A stretch is on the friction cone if it is shorter by less than this share.
constexpr double kOnCone = 1e-9;
/// How often a contact that springs back gives way in a step, before it is taken to do so all the time.
constexpr int kCutsPerStep = 4;
/// Sliding velocities below this [m/s] have no direction.
constexpr double kNoSpeed = 1e-9;
/// Slower ones [m/s] turn as if they were this fast: Coulomb friction has no derivative at rest.
constexpr double kSlowest = 1e-6;

// Surfaces.
/// Curvatures below this [1/m] are rounding: the surface is flat there. Normals that differ by less are the same.
constexpr double kFlat = 1e-9, kSameNormal = 1e-14;
/// Normals with a product below this point to different sides: a contact that went through has no stretch left.
constexpr double kOtherSide = -0.9;

/// Points of an edge between those that touch a shape, the first and the last, from which on it lies flat on the edge.
constexpr int kFlatOnEdge = 4;
/// What a step is off by, in terms of what it can tell: velocities by which the bias within it changes, by which robot
/// and contact space differ at its end, the mean of the two, what its micro-steps are off by, and what
/// fitted inertia has done.
constexpr double kErrorOfBias = 0.1, kErrorOfMismatch = 5.0, kErrorOfBoth = 5.0, kErrorOfMicroSteps = 4.0,
                 kErrorOfFitting = 0.1;
/// Nodes of the path through a step are at most so far apart [s], and their accelerations so exact [m/s²].
constexpr double kNodesApart = 1e-4, kNodeTolerance = 1e-3;
/// Points of an edge that are as close to a shape as the closest, but for this [m], lie on it as that does.
constexpr double kEvenOnEdge = 1e-4;
/// Steps by which the place where an edge is closest to a shape is looked for, and how exactly it is [m].
constexpr int kMostLooks = 60;
constexpr double kClosest = 1e-13;

// Steps and states.
/// Shorter steps [s] vanish beside the time, and their parts beside nothing.
constexpr double kMinStep = 1e-12;
/// Velocities beyond this [rad/s, m/s] are absurd: the step has diverged.
constexpr double kMaxVelocity = 1e5;
/// A stretch given along the normal may be this share of its length, or of the shortest length [m] that counts.
constexpr double kTangential = 1e-6, kNoLength = 1e-6;
/// How far from unit length a quaternion may be given; closer, it is normalised.
constexpr double kQuaternionTolerance = 1e-3;

}  // namespace thresholds
}  // namespace exposim
