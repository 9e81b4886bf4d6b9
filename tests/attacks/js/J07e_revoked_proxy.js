/* expect: status=exception name=TypeError message=Proxy */
/* The attacker wants a revoked proxy to throw in the middle of the runtime. */
const { proxy, revoke } = Proxy.revocable({}, {});
revoke();
({ p: proxy });
