/* perf_hooks.js - perf_hooks: the global performance and the classes of its entries. */
const { PerformanceEntry, PerformanceMark, PerformanceMeasure } = vial.load("web/performance");

function absent(name, advice) {
    return function unavailable() {
        throw new Error(`perf_hooks.${name} is not available in vial: ${advice}`);
    };
}

module.exports = {
    performance: vial.performance, PerformanceEntry, PerformanceMark, PerformanceMeasure,
    PerformanceObserver: absent("PerformanceObserver", "read performance.getEntries() instead"),
    monitorEventLoopDelay: absent("monitorEventLoopDelay", "a run has no event loop of its own thread"),
    createHistogram: absent("createHistogram", "count in an array instead"),
    constants: {},
};
