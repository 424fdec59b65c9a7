#include "readings.hpp"

#include <nanobind/eigen/dense.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "exposim/readings.hpp"

namespace nb = nanobind;

namespace exposim {
namespace {

using Eigen::Index;
using Eigen::VectorXd;
using RowMatrix9d = Eigen::Matrix<double, Eigen::Dynamic, 9, Eigen::RowMajor>;
using RowMatrixX3d = Eigen::Matrix<double, Eigen::Dynamic, 3, Eigen::RowMajor>;

/// A reader of three numbers per contact.
template <typename Function>
auto row_reader(Function row) {
  return reader([row](const Simulator& simulator) {
    const auto count = static_cast<Index>(simulator.world().contacts().size());
    RowMatrixX3d rows(count, 3);
    for (Index i = 0; i < count; ++i) rows.row(i) = row(simulator, static_cast<std::size_t>(i));
    return rows;
  });
}

double side(const Simulator& simulator, std::size_t i) { return side(simulator.world(), i); }

/// A reader of one value per contact.
template <typename Value, typename Function>
auto memory_reader(Function value) {
  return reader([value](const Simulator& simulator) {
    const auto count = static_cast<Index>(simulator.world().contacts().size());
    Eigen::Matrix<Value, Eigen::Dynamic, 1> values(count);
    for (Index i = 0; i < count; ++i) values(i) = value(simulator.state().memory[static_cast<std::size_t>(i)]);
    return values;
  });
}

/// The surface that each contact touches, or belongs to; of one that lies on an edge, that of the edge.
Eigen::VectorXi touched(const Simulator& simulator) {
  const World& world = simulator.world();
  Eigen::VectorXi surfaces(static_cast<Index>(world.contacts().size()));
  for (Index i = 0; i < surfaces.size(); ++i) {
    const Memory& memory = simulator.state().memory[static_cast<std::size_t>(i)];
    surfaces(i) = memory.guest < 0 ? memory.surface : world.edge_of(world.guest_point(memory.guest)).surface;
  }
  return surfaces;
}

Eigen::Vector3d anchor(const Simulator& simulator, std::size_t i) {
  const Memory& memory = simulator.state().memory[i];
  const Motion& motion = simulator.now().motions[i];
  if (!memory.active()) return Eigen::Vector3d::Constant(std::numeric_limits<double>::quiet_NaN());
  return motion.p - side(simulator, i) * displacement(motion, memory);
}

/// Of the limits along every degree of freedom, now or on average over the last step.
VectorXd limit_forces(const Simulator& simulator, bool mean) {
  const World& world = simulator.world();
  const VectorXd& lam = mean ? simulator.last_step().lam : simulator.now().lam;
  VectorXd forces = VectorXd::Zero(world.robot().nv());
  if (lam.size() == 0) return forces;
  for (std::size_t i = world.first_limit(); i < world.strands(); ++i) {
    forces(world.limit(i).in_v) += lam(3 * static_cast<Index>(i));
  }
  return forces;
}

VectorXd friction_torques(const Simulator& simulator) {
  const World& world = simulator.world();
  const State& state = simulator.state();
  VectorXd torques = VectorXd::Zero(world.robot().nv());
  for (std::size_t k = 0; k < state.grips.size(); ++k) {
    const Index i = world.rough_dofs()[k];
    torques(i) = world.joints().dofs[static_cast<std::size_t>(i)].friction.force(state.v(i), state.grips[k]);
  }
  return torques;
}

VectorXd motor_torques(const Simulator& simulator) {
  const std::vector<int>& actuated = simulator.world().robot().actuated();
  VectorXd torques(static_cast<Index>(actuated.size()));
  for (std::size_t i = 0; i < actuated.size(); ++i) {
    torques(static_cast<Index>(i)) = simulator.last_step().motors.torque(actuated[i]);
  }
  return torques;
}

/// The packed state, the torques of motors, and positions, normals and forces of contacts, in one array: a run reads
/// them after every step, and each array of its own costs as much as all the numbers.
VectorXd recorded(const Simulator& simulator) {
  const World& world = simulator.world();
  const VectorXd torques = motor_torques(simulator);
  const Index state = world.packed_size();
  const auto contacts = static_cast<Index>(world.contacts().size());
  VectorXd record(state + torques.size() + 9 * contacts);
  world.pack(simulator.state(), record.head(state));
  record.segment(state, torques.size()) = torques;
  const auto rows = [&](Index block, Index i) {
    return record.segment<3>(state + torques.size() + 3 * (block * contacts + i));
  };
  for (Index i = 0; i < contacts; ++i) {
    const auto contact = static_cast<std::size_t>(i);
    rows(0, i) = simulator.now().motions[contact].p;
    rows(1, i) = side(simulator, contact) * simulator.now().motions[contact].n;
    rows(2, i) = side(simulator, contact) * simulator.now().force(contact);
  }
  return record;
}

/// Events from a number on, a row for each. In one array, as what a signal handler raises while one is made is lost.
RowMatrix9d event_table(const Simulator& simulator, std::size_t first) {
  const std::vector<Event>& events = simulator.events();
  const std::size_t count = events.size() - std::min(first, events.size());
  RowMatrix9d table(static_cast<Index>(count), kEventSize);
  for (std::size_t k = 0; k < count; ++k) {
    table.row(static_cast<Index>(k)) = event_row(simulator.world(), events[first + k]);
  }
  return table;
}

}  // namespace

void bind_readings(nb::class_<SharedSimulator>& simulator) {
  simulator.def_prop_ro("t", reader([](const Simulator& simulator) { return simulator.state().t; }))
      .def_prop_ro("q", reader([](const Simulator& simulator) { return VectorXd(simulator.state().q); }))
      .def_prop_ro("v", reader([](const Simulator& simulator) { return VectorXd(simulator.state().v); }))
      .def_prop_ro("active", memory_reader<bool>([](const Memory& memory) { return memory.active(); }))
      .def_prop_ro("slipping", memory_reader<bool>([](const Memory& memory) { return memory.slipping(); }))
      .def_prop_ro("touched", reader(&touched))
      .def_prop_ro("positions", row_reader([](const Simulator& s, std::size_t i) { return s.now().motions[i].p; }))
      .def_prop_ro("velocities", row_reader([](const Simulator& s, std::size_t i) -> Eigen::Vector3d {
                     return side(s, i) * s.now().motions[i].dp;
                   }))
      .def_prop_ro("normals", row_reader([](const Simulator& s, std::size_t i) -> Eigen::Vector3d {
                     return side(s, i) * s.now().motions[i].n;
                   }))
      .def_prop_ro("forces", row_reader([](const Simulator& s, std::size_t i) -> Eigen::Vector3d {
                     return side(s, i) * s.now().force(i);
                   }))
      .def_prop_ro("anchors", row_reader(&anchor))
      .def_prop_ro("lam_pr", row_reader([](const Simulator& s, std::size_t i) -> Eigen::Vector3d {
                     return side(s, i) * s.last_step().lam.segment<3>(3 * static_cast<Index>(i));
                   }))
      .def_prop_ro("lam_pr2", row_reader([](const Simulator& s, std::size_t i) -> Eigen::Vector3d {
                     return side(s, i) * s.last_step().lam2.segment<3>(3 * static_cast<Index>(i));
                   }))
      .def_prop_ro("torques", reader(&motor_torques))
      .def_prop_ro("recorded", reader(&recorded))
      .def_prop_ro("saturated", reader([](const Simulator& simulator) {
                     std::vector<Index> dofs;
                     const std::vector<unsigned char>& at_bound = simulator.last_step().motors.at_bound;
                     for (std::size_t i = 0; i < at_bound.size(); ++i) {
                       if (at_bound[i] != 0) dofs.push_back(static_cast<Index>(i));
                     }
                     return dofs;
                   }))
      .def_prop_ro("limit_forces", reader([](const Simulator& simulator) { return limit_forces(simulator, false); }))
      .def_prop_ro("mean_limit_forces",
                   reader([](const Simulator& simulator) { return limit_forces(simulator, true); }))
      .def_prop_ro("friction_torques", reader(&friction_torques))
      .def_prop_ro("event_count", reader([](const Simulator& simulator) { return simulator.events().size(); }))
      .def(
          "events_from",
          [](SharedSimulator& self, std::size_t first) {
            return self.locked([first](const Simulator& simulator) { return event_table(simulator, first); });
          },
          nb::arg("first"))
      .def_prop_rw("loose", reader([](const Simulator& simulator) {
                     std::vector<bool> loose;
                     for (const Hold each : simulator.holds()) loose.push_back(each == Hold::kLoose);
                     return loose;
                   }),
                   [](SharedSimulator& self, const std::vector<bool>& loose) {
                     std::vector<Hold> told;
                     for (const bool each : loose) told.push_back(each ? Hold::kLoose : Hold::kFast);
                     self.alone([&](Simulator& simulator) { simulator.take_holds(told); });
                   })
      .def_prop_ro("acceleration",
                   [](SharedSimulator& self) {
                     return self.alone([](Simulator& simulator) { return simulator.acceleration(); });
                   })
      .def("path",
           [](SharedSimulator& self) { return self.alone([](Simulator& simulator) { return simulator.path(); }); })
      .def_prop_ro("kernel_info", reader([](const Simulator& simulator) { return simulator.last_step().kernel; }))
      .def_prop_ro("transition_info",
                   reader([](const Simulator& simulator) { return simulator.last_step().transitions; }))
      .def_prop_ro("parts_info", reader([](const Simulator& simulator) { return simulator.last_step().parts; }))
      .def_prop_ro("newton_info", reader([](const Simulator& simulator) { return simulator.last_step().newton; }))
      .def_prop_ro("statistics", reader([](const Simulator& simulator) { return simulator.statistics(); }));
}

}  // namespace exposim
