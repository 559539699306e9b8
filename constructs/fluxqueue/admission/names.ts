/** Name of its Deployment and Service; the Service's is in the certificate. */
export const WEBHOOK_SERVICE = 'fluxqueue-webhook';

/** Name of the MutatingWebhookConfiguration. */
export const WEBHOOK_CONFIGURATION = 'fluxqueue';
