/**
 * Most labels and annotations, counted together. Rules of admission compare each of them at each write, also of the controller: with
 * 25,000 a release took the apiserver some ten seconds. Workloads that people write have fewer than 100. Controllers add some to
 * what they make of a template, so that may have more.
 */
export const MAX_METADATA = {
  /** Of each template in an object of a workload kind, e.g. a JobSet. */
  templateOfKind: 1000,
  /** Of the template of a Job. */
  templateOfJob: 1500,
  /** Of the object itself. */
  object: 2000,
} as const;
