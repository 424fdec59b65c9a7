"""Sensors: what a robot can know of itself, with noise, bias, delay and rate.

``sim.read(sensor)`` gives the latest reading, ``sensor.samples`` all that are new in it::

    imu = xs.sensors.IMU("base_link", noise=(0.02, 0.002), rate=1000.0)
    sim.step(tau)
    sim.read(imu).acceleration
    imu.samples.acceleration
"""

from exposim.sensors.contact_force import ContactForce, ForceReading
from exposim.sensors.encoders import EncoderReading, Encoders
from exposim.sensors.foot_contact import FootContact, FootReading
from exposim.sensors.imu import IMU, ImuReading
from exposim.simulation.sensing import Sensor

__all__ = [
    "IMU",
    "ContactForce",
    "EncoderReading",
    "Encoders",
    "FootContact",
    "FootReading",
    "ForceReading",
    "ImuReading",
    "Sensor",
]
