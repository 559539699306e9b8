/** The query of a request. */

/** The part of a resource that a list or a watch reads. */
export interface Selection {
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

export function selection({ labelSelector, fieldSelector }: Selection): Record<string, string | undefined> {
  return { labelSelector, fieldSelector };
}

/** Without the parameters that are not given. */
export function search(parameters: Readonly<Record<string, string | undefined>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) query.set(name, value);
  return query.size === 0 ? '' : `?${query}`;
}
