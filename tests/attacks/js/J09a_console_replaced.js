/* expect: status=ok value="fine" */
/* The attacker wants the runtime to fall over its own console, timers and JSON once they are replaced. */
console.log = console.error = null;
globalThis.console = null;
globalThis.JSON = { stringify: () => "owned", parse: () => "owned" };
globalThis.setTimeout = globalThis.Promise = globalThis.Object = globalThis.Array = undefined;
globalThis.Reflect = globalThis.Map = globalThis.String = globalThis.Error = undefined;
"fine";
