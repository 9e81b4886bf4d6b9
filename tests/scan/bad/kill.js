// expect: js-process-control
process.kill(1, "SIGKILL");
