/** Set by the global set-up when the control plane could not be built: why, in one line. */
export const NO_CONTROL_PLANE = 'FLUXQUEUE_TEST_NO_CONTROL_PLANE';
