export {
  FluxQueueValidation,
  type FluxQueueValidationProps,
  type ManifestValidationContext,
  type ManifestViolation,
} from './plugin';
