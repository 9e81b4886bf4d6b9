# Messages of a program.
import logging
import sys

logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(levelname)s %(message)s")
log = logging.getLogger("tool")
log.info("processed %d rows", 42)
log.warning("skipped %s", "row 7")
