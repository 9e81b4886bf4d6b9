"""What can go wrong on this side of the wall. A failure of the guest is a Result and none of these."""


class VialError(RuntimeError):
    """vial itself could not do its job. ``code`` is that of enum vial_code in vial.h."""

    code = 0


class ClosedError(VialError):
    """What was asked is closed, has ended, or belongs to the process before a fork."""
