"""What the tests of `bulk` share."""

from tests.tools.serial_bulk import serial

__all__ = ["serial"]
