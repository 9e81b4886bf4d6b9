// expect: js-process
const cp = await import("child_process");
cp.exec("whoami");
