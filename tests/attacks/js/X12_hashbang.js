/* expect: status=ok|exception limits: wall_ms=1000 */
/* The attacker wants an interpreter of its own to be started for its script. */
#!/bin/sh
