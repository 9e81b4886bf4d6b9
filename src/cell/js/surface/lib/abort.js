/* abort.js - stands in for the package abort-controller. */
export const AbortController = globalAbortController();
export const AbortSignal = globalAbortSignal();

function globalAbortController() {
    return vial.g.AbortController;
}

function globalAbortSignal() {
    return vial.g.AbortSignal;
}
