/** Environment variable with the reason why the global set-up could not build the control plane. */
export const NO_CONTROL_PLANE = 'FLUXQUEUE_TEST_NO_CONTROL_PLANE';
