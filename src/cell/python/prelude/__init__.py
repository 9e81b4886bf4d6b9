"""What vial has inside of a Python cell. Nothing in here guards anything: the kernel does."""
