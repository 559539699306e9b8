import { changes } from './changes';
import { grants } from './grants';
import type { Scenario } from './scenario';
import { time } from './time';

export const SCENARIOS: readonly Scenario[] = [...grants, ...changes, ...time];
